/* One layer of the transformer encoder; bound by `transformer_layers.py`, which does the
 * same in NumPy and tells how numbers are kept.
 *
 * Sums of products are of whole numbers, so that they are the same in whatever order the
 * machine at hand is quick with. Steps in fractions are in a fixed order, none fused. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_MACHINE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_MACHINE
#endif

enum {
    HEADS = 12,
    HEAD = 32,
    WIDTH = HEADS * HEAD,
    INNER = 4 * WIDTH,
    MOST = 128,    /* pieces */
    ROWS = 6,      /* pieces that are multiplied at a time */
    LANES = 16,    /* outputs of a panel of weights */
    PANELS = 2,    /* that are multiplied at a time */
    BLOCK = PANELS * LANES,
    INPUT_MOST = (1 << 13) - 1,
    STEPS = 512,
    NORMAL_MOST = 16 * STEPS, /* the last entries of the tables */
    POWERS_MOST = 16 * STEPS,
    UNITS_MOST = 1 << 21,
};
static const float UNIT = 1 << 12;
static const float STEPS_A_PRODUCT = 90.50966799187809f; /* STEPS over the root of HEAD */

typedef struct {
    const int16_t *weights; /* by panels, pairs of inputs, lanes */
    const float *scales, *biases;
} dense;

typedef struct {
    const float *weights, *biases;
} norm;

typedef struct {
    dense mixed, attended;
    norm attended_norm;
    dense inner, output;
    norm output_norm;
} layer;

/* Inputs as whole numbers of at most INPUT_MOST, and what one of them stands for. */
typedef struct {
    int16_t rows[(MOST + ROWS) * INNER];
    float scales[MOST];
} whole;

/* What a text needs while it is read. */
typedef struct {
    whole inputs;
    float wide[MOST * INNER], narrow[MOST * WIDTH];
} room;

/* --- products -------------------------------------------------------------------- */

typedef int32_t sums[ROWS][BLOCK];
typedef void multiply(const int16_t *rows, const int16_t *weights, int64_t width, sums totals);

static inline int32_t pair_at(const int16_t *row)
{
    int32_t pair;
    memcpy(&pair, row, sizeof pair);
    return pair;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx512f,avx512bw,avx512vnni")))
static void multiply_avx512(const int16_t *rows, const int16_t *weights, int64_t width, sums totals)
{
    __m512i sum[ROWS][PANELS];
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) sum[r][0] = sum[r][1] = _mm512_setzero_si512();
    const int16_t *next = weights + width * LANES;
#pragma GCC unroll 2
    for (int64_t k = 0; k < width; k += 2) {
        const __m512i lanes = _mm512_loadu_si512(weights + k * LANES);
        const __m512i other = _mm512_loadu_si512(next + k * LANES);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) {
            const __m512i pair = _mm512_set1_epi32(pair_at(rows + r * width + k));
            sum[r][0] = _mm512_dpwssd_epi32(sum[r][0], lanes, pair);
            sum[r][1] = _mm512_dpwssd_epi32(sum[r][1], other, pair);
        }
    }
    memcpy(totals, sum, sizeof sum);
}

__attribute__((target("avx2")))
static void multiply_panel_avx2(const int16_t *rows, const int16_t *weights, int64_t width, int32_t *totals)
{
    __m256i sum[ROWS][2];
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) sum[r][0] = sum[r][1] = _mm256_setzero_si256();
    for (int64_t k = 0; k < width; k += 2) {
        const __m256i *panel = (const __m256i *)(weights + k * LANES);
        const __m256i lanes = _mm256_loadu_si256(panel), further = _mm256_loadu_si256(panel + 1);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) {
            const __m256i pair = _mm256_set1_epi32(pair_at(rows + r * width + k));
            sum[r][0] = _mm256_add_epi32(sum[r][0], _mm256_madd_epi16(lanes, pair));
            sum[r][1] = _mm256_add_epi32(sum[r][1], _mm256_madd_epi16(further, pair));
        }
    }
    for (int r = 0; r < ROWS; r++) memcpy(totals + r * BLOCK, sum[r], sizeof sum[r]);
}

static void multiply_avx2(const int16_t *rows, const int16_t *weights, int64_t width, sums totals)
{
    for (int p = 0; p < PANELS; p++)
        multiply_panel_avx2(rows, weights + p * width * LANES, width, totals[0] + p * LANES);
}
#endif

static void multiply_row(const int16_t *restrict row, const int16_t *restrict panel, int64_t width,
                         int32_t *restrict totals)
{
    int32_t sum[LANES] = {0};
    for (int64_t k = 0; k < width; k += 2)
        for (int l = 0; l < LANES; l++)
            sum[l] += row[k] * panel[k * LANES + 2 * l] + row[k + 1] * panel[k * LANES + 2 * l + 1];
    memcpy(totals, sum, sizeof sum);
}

static void multiply_plainly(const int16_t *rows, const int16_t *weights, int64_t width, sums totals)
{
    for (int p = 0; p < PANELS; p++)
        for (int r = 0; r < ROWS; r++)
            multiply_row(rows + r * width, weights + p * width * LANES, width, totals[r] + p * LANES);
}

/* instructions: 2 for the newest that the machine has, 1 for AVX2 at most, 0 for none. */
static multiply *quickest(int instructions)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (instructions > 1 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni"))
        return multiply_avx512;
    if (instructions > 0 && __builtin_cpu_supports("avx2")) return multiply_avx2;
#endif
    (void)instructions;
    return multiply_plainly;
}

FOR_EACH_MACHINE
static void take_scaled(const int32_t *restrict totals, float row_scale, const float *restrict scales,
                        const float *restrict biases, float *restrict out)
{
    for (int l = 0; l < BLOCK; l++) out[l] = (float)totals[l] * row_scale * scales[l] + biases[l];
}

static void pass_dense(const dense *d, const whole *in, int64_t pieces, int64_t width, int64_t outputs,
                       multiply *by, float *out)
{
    sums totals;
    for (int64_t first = 0; first < outputs; first += BLOCK)
        for (int64_t p = 0; p < pieces; p += ROWS) {
            by(in->rows + p * width, d->weights + first * width, width, totals);
            for (int64_t r = p; r < p + ROWS && r < pieces; r++)
                take_scaled(totals[r - p], in->scales[r], d->scales + first, d->biases + first,
                            out + r * outputs + first);
        }
}

FOR_EACH_MACHINE
static void make_whole(const float *restrict in, int64_t pieces, int64_t width, whole *restrict out)
{
    for (int64_t p = 0; p < pieces; p++) {
        const float *row = in + p * width;
        int32_t bits = 0; /* of fractions above zero, the larger has the larger */
        for (int64_t k = 0; k < width; k++) {
            int32_t magnitude;
            memcpy(&magnitude, row + k, sizeof magnitude);
            magnitude &= INT32_MAX;
            if (magnitude > bits) bits = magnitude;
        }
        float largest;
        memcpy(&largest, &bits, sizeof largest);
        if (largest < 1e-30f) largest = 1e-30f;
        out->scales[p] = largest / INPUT_MOST;
        const float finer = INPUT_MOST / largest;
        for (int64_t k = 0; k < width; k++)
            out->rows[p * width + k] = (int16_t)(int32_t)rintf(row[k] * finer);
    }
}

/* --- attention ------------------------------------------------------------------- */

/* As many fractions as a panel has outputs; each by itself, whatever registers there are. */
typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

/* What each piece says to one query. */
FOR_EACH_MACHINE
static void compare(const float *query, lanes (*keys)[MOST / LANES], int64_t pieces, lanes *alike)
{
    for (int64_t b = 0; b * LANES < pieces; b++) {
        lanes sum = {0};
        for (int d = 0; d < HEAD; d++) sum += query[d] * keys[d][b];
        alike[b] = sum;
    }
}

/* Makes shares of them; returns their sum. */
FOR_EACH_MACHINE
static float share_out(float *restrict alike, int64_t pieces, const int32_t *restrict powers)
{
    int32_t steps[MOST], most = INT32_MIN, total = 0;
    for (int64_t p = 0; p < pieces; p++) {
        steps[p] = (int32_t)rintf(alike[p] * STEPS_A_PRODUCT);
        if (steps[p] > most) most = steps[p];
    }
    for (int64_t p = 0; p < pieces; p++) {
        const int32_t less = most - steps[p];
        const int32_t power = powers[less < POWERS_MOST ? less : POWERS_MOST];
        alike[p] = (float)power;
        total += power;
    }
    return (float)total;
}

FOR_EACH_MACHINE
static void take_shares(const float *shares, float total, const float *values, int64_t pieces, float *out)
{
    lanes sum[HEAD / LANES] = {{0}}, value;
    for (int64_t p = 0; p < pieces; p++)
        for (int b = 0; b < HEAD / LANES; b++) {
            memcpy(&value, values + p * 3 * WIDTH + b * LANES, sizeof value);
            sum[b] += shares[p] * value;
        }
    for (int b = 0; b < HEAD / LANES; b++) sum[b] /= total;
    memcpy(out, sum, sizeof sum);
}

static void attend(const float *mixed, int64_t pieces, const int32_t *powers, float *out)
{
    union {
        lanes of[HEAD][MOST / LANES];
        float at[HEAD][MOST];
    } keys = {{{{0}}}};
    union {
        lanes of[MOST / LANES];
        float at[MOST];
    } alike;
    for (int64_t first = 0; first < WIDTH; first += HEAD) {
        const float *queries = mixed + first, *values = queries + 2 * WIDTH;
        for (int64_t p = 0; p < pieces; p++)
            for (int d = 0; d < HEAD; d++) keys.at[d][p] = queries[p * 3 * WIDTH + WIDTH + d];
        for (int64_t p = 0; p < pieces; p++) {
            compare(queries + p * 3 * WIDTH, keys.of, pieces, alike.of);
            const float total = share_out(alike.at, pieces, powers);
            take_shares(alike.at, total, values, pieces, out + p * WIDTH + first);
        }
    }
}

/* --- piece by piece --------------------------------------------------------------- */

FOR_EACH_MACHINE
static void add_and_normalise(float *restrict outputs, const float *restrict more, int64_t pieces,
                              const norm *restrict n)
{
    for (int64_t p = 0; p < pieces; p++, outputs += WIDTH, more += WIDTH) {
        int32_t units[WIDTH], total = 0;
        int64_t squares = 0;
        for (int d = 0; d < WIDTH; d++) {
            const float unit = rintf((outputs[d] + more[d]) * UNIT);
            units[d] = (int32_t)(unit < -UNITS_MOST ? -UNITS_MOST : unit > UNITS_MOST ? UNITS_MOST : unit);
            total += units[d];
            squares += (int64_t)units[d] * units[d];
        }
        const int64_t spread = WIDTH * squares - (int64_t)total * total + 1;
        const float factor = (float)(1 / sqrt((double)spread));
        for (int d = 0; d < WIDTH; d++)
            outputs[d] = (float)(WIDTH * units[d] - total) * factor * n->weights[d] + n->biases[d];
    }
}

FOR_EACH_MACHINE
static void find_steps(const float *restrict row, int32_t *restrict steps)
{
    for (int d = 0; d < INNER; d++) {
        const float step = rintf(row[d] * STEPS) + NORMAL_MOST / 2;
        steps[d] = (int32_t)(step < 0 ? 0 : step > NORMAL_MOST ? NORMAL_MOST : step);
    }
}

static void pass_gelu(float *restrict inner, int64_t pieces, const float *restrict normal)
{
    int32_t steps[INNER];
    for (int64_t p = 0; p < pieces; p++, inner += INNER) {
        find_steps(inner, steps);
        for (int d = 0; d < INNER; d++) inner[d] *= normal[steps[d]];
    }
}

const int64_t transformer_room = sizeof(room);

static void pass_layer(const layer *own, const float *normal, const int32_t *powers, int64_t pieces,
                       multiply *by, room *r, float *outputs)
{
    make_whole(outputs, pieces, WIDTH, &r->inputs);
    pass_dense(&own->mixed, &r->inputs, pieces, WIDTH, 3 * WIDTH, by, r->wide);
    attend(r->wide, pieces, powers, r->narrow);
    make_whole(r->narrow, pieces, WIDTH, &r->inputs);
    pass_dense(&own->attended, &r->inputs, pieces, WIDTH, WIDTH, by, r->narrow);
    add_and_normalise(outputs, r->narrow, pieces, &own->attended_norm);
    make_whole(outputs, pieces, WIDTH, &r->inputs);
    pass_dense(&own->inner, &r->inputs, pieces, WIDTH, INNER, by, r->wide);
    pass_gelu(r->wide, pieces, normal);
    make_whole(r->wide, pieces, INNER, &r->inputs);
    pass_dense(&own->output, &r->inputs, pieces, INNER, WIDTH, by, r->narrow);
    add_and_normalise(outputs, r->narrow, pieces, &own->output_norm);
}

/* outputs: of `pieces` pieces, at most MOST; they become the last layer's. */
void pass_layers(const layer *layers, int64_t count, const float *normal, const int32_t *powers,
                 int64_t pieces, int instructions, room *r, float *outputs)
{
    multiply *by = quickest(instructions);
    for (int64_t l = 0; l < count; l++) pass_layer(layers + l, normal, powers, pieces, by, r, outputs);
}
