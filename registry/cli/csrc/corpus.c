/* Relevance of every row of a small corpus; bound by `bench/corpus.py`, which does the same
 * in NumPy by `ranking/relevance.py`. Whole numbers throughout. */
#include <stdint.h>

enum { DIMENSIONS = 128, FULL = 10000, MULTIPLIER_BITS = 32 };

/* Term t is said by said_by[starts[t]] up to said_by[starts[t + 1]], with their impacts. */
typedef struct {
    int64_t rows;
    const int16_t *vectors;
    const uint16_t *reciprocals;
    const int64_t *starts;
    const uint32_t *said_by;
    const uint8_t *impacts;
} corpus;

/* terms: so many numbers follow, and as many weights. */
typedef struct {
    int64_t lexical_multiplier, meaning_multiplier, lexical_share, full_relevance, floor,
        meaning_only_min, terms, said[];
} question;

static void add_term(const corpus *c, int64_t term, int64_t weight, int64_t *matched)
{
    for (int64_t i = c->starts[term]; i < c->starts[term + 1]; i++)
        matched[c->said_by[i]] += weight * c->impacts[i];
}

/* Of each row with the vector; both as sixteen bits, which are multiplied in pairs. */
static void multiply(const corpus *c, const int8_t *vector, int64_t *products)
{
    int16_t wide[DIMENSIONS];
    for (int d = 0; d < DIMENSIONS; d++) wide[d] = vector[d];
    for (int64_t i = 0; i < c->rows; i++) {
        const int16_t *row = c->vectors + i * DIMENSIONS;
        int32_t sum = 0;
        for (int d = 0; d < DIMENSIONS; d++) sum += row[d] * wide[d];
        products[i] = sum;
    }
}

static int64_t part_of_full(int64_t amount)
{
    amount >>= MULTIPLIER_BITS;
    return amount < FULL ? amount : FULL;
}

/* Of two parts of FULL, so that 32 bits hold it. */
static int64_t fuse(const question *q, int64_t lexical, int64_t cosine)
{
    const int64_t both = q->lexical_share * lexical + (FULL - q->lexical_share) * cosine;
    const uint32_t fused = (uint32_t)both / (uint32_t)q->full_relevance;
    return fused < FULL ? fused : FULL;
}

/* scored: all 0, room for so many rows four times. Gives lexical, cosine, relevance and
 * whether it is eligible, of all rows one after the other. */
void match_rows(const corpus *c, const question *q, const int8_t *vector, int64_t *scored)
{
    int64_t *lexical = scored, *cosine = lexical + c->rows, *relevance = cosine + c->rows,
            *eligible = relevance + c->rows;
    for (int64_t t = 0; t < q->terms; t++)
        add_term(c, q->said[t], q->said[q->terms + t], lexical);
    multiply(c, vector, cosine);
    for (int64_t i = 0; i < c->rows; i++) {
        const int64_t likeness = cosine[i] > 0 ? cosine[i] * c->reciprocals[i] : 0;
        const int is_said = lexical[i] > 0;
        lexical[i] = part_of_full(lexical[i] * q->lexical_multiplier);
        cosine[i] = part_of_full(likeness * q->meaning_multiplier);
        relevance[i] = fuse(q, lexical[i], cosine[i]);
        eligible[i] = relevance[i] >= q->floor && (is_said || cosine[i] >= q->meaning_only_min);
    }
}
