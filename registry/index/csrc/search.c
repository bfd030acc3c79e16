/* The k best places of a request, exactly: every eligible site is scored, or shown by a
 * bound to be none of them.
 *
 * Windows are taken best bound first, until none can hold one of the k best. In a window
 * where no row can stand without one of its rarer terms, only the postings of these are
 * looked at (MaxScore, Turtle & Flood 1995); else all rows, by a bound that is computed
 * for all of them at once. What is left is looked at closely, one line of memory a row.
 */
#include "eligible.h"

/* The digest of the sources, by which the caller knows that these structs are its own. */
const char sources[] = SOURCES;

enum { NO_CAPACITY = -1, NO_MEMORY = -2 };
enum { BUCKETS = 32 };

/* In how many rows of all segments each term is. */
void count_containing(const segment *segments, int32_t n, const uint64_t *hashes,
                      int32_t terms, int64_t *counts)
{
    for (int32_t t = 0; t < terms; t++) {
        counts[t] = 0;
        for (int32_t s = 0; s < n; s++) {
            int64_t term = find_term(&segments[s], hashes[t]);
            if (term >= 0) counts[t] += segments[s].containing[term];
        }
    }
}

static int begin(run *r, const segment *in, const query *q)
{
    int64_t parts = (int64_t)q->terms + q->filters, windows = in->windows;
    size_t each = (size_t)(windows + 1) * sizeof(uint32_t) + (size_t)windows;
    r->in = in;
    r->asked = q;
    r->n_terms = r->n_filters = 0;
    size_t cells = (size_t)in->cells * sizeof(float);
    if (!(r->scratch = malloc((size_t)parts * each + cells + 1))) return 0;
    r->near = r->scratch;
    uint32_t *blocks = (uint32_t *)(r->near + in->cells);
    uint8_t *peaks = (uint8_t *)(blocks + parts * (windows + 1));
    for (int64_t i = 0; i < parts; i++, blocks += windows + 1, peaks += windows) {
        if (i >= q->terms) {
            resolve(in, q->filter_hashes[i - q->terms], &r->filters[r->n_filters++], blocks, peaks);
            continue;
        }
        part *one = &r->terms[r->n_terms];
        if (!q->term_weights[i]) continue;
        resolve(in, q->term_hashes[i], one, blocks, peaks);
        one->weight = (uint32_t)q->term_weights[i];
        r->n_terms += one->peaks != NULL;
    }
    split(q->vector, &r->meant);
    set_limits(r);
    bound_cells(r);
    return 1;
}

/* ---- the order of windows ---- */

typedef struct {
    float *bounds;
    int32_t *order;
    int64_t count;
} prospects;

static int passes(const run *r, int64_t window)
{
    for (int32_t i = 0; i < r->n_filters; i++)
        if (!r->filters[i].peaks || !r->filters[i].peaks[window]) return 0;
    return 1;
}

static void add_peaks(float *restrict matched, const uint8_t *restrict peaks, int64_t windows,
                      float weight)
{
    for (int64_t w = 0; w < windows; w++) matched[w] += weight * (float)peaks[w];
}

/* The bound of each window that can hold an eligible row; else -1. */
static void bound_windows(const run *r, float *bounds)
{
    const query *q = r->asked;
    memset(bounds, 0, (size_t)r->in->windows * sizeof *bounds);
    for (int32_t t = 0; t < r->n_terms; t++)
        add_peaks(bounds, r->terms[t].peaks, r->in->windows, (float)r->terms[t].weight);
    for (int64_t w = 0; w < r->in->windows; w++) {
        float relevance = relevance_bound(r, bounds[w] * r->lexical_slope, r->cosine_most);
        int holds = relevance >= (float)q->floor && passes(r, w);
        bounds[w] = holds ? (float)q->weights[0] * relevance +
                                (float)q->weights[1] * proximity_bound(r, w) +
                                (float)MERIT_UNIT * r->in->window_merit[w] + r->growth + SLACK
                          : -1;
    }
}

static int bucket_of(float bound)
{
    int bucket = (int)(bound * (BUCKETS / 1.0e8f));
    return BUCKETS - 1 - (bucket < BUCKETS ? bucket : BUCKETS - 1);
}

/* About best first: by buckets. */
static void order_windows(prospects *p, int64_t windows)
{
    int32_t starts[BUCKETS + 1] = {0};
    for (int64_t w = 0; w < windows; w++)
        if (p->bounds[w] >= 0) starts[bucket_of(p->bounds[w]) + 1]++;
    for (int b = 0; b < BUCKETS; b++) starts[b + 1] += starts[b];
    p->count = starts[BUCKETS];
    for (int64_t w = 0; w < windows; w++)
        if (p->bounds[w] >= 0) p->order[starts[bucket_of(p->bounds[w])]++] = (int32_t)w;
}

/* ---- segments ---- */

static int64_t search_segment(const segment *in, const query *q, state *s)
{
    run r;
    prospects p = {NULL, NULL, 0};
    int64_t ended = NO_MEMORY;
    if (!begin(&r, in, q)) return NO_MEMORY;
    p.bounds = malloc((size_t)(in->windows + 1) * sizeof *p.bounds);
    p.order = malloc((size_t)(in->windows + 1) * sizeof *p.order);
    if (p.bounds && p.order) {
        bound_windows(&r, p.bounds);
        order_windows(&p, in->windows);
        ended = 0;
    }
    for (int64_t i = 0; i < p.count && !ended; i++) {
        int64_t window = p.order[i];
        if (p.bounds[window] < wanted(s)) continue;
        if (!search_window(&r, window, p.bounds[window], s)) ended = NO_CAPACITY;
    }
    free(p.bounds);
    free(p.order);
    free(r.scratch);
    return ended;
}

/* Fills `list` with all that can be on the page: those at or before the k-th place after
 * the standing `after`, and its equals; and `shown` with those before `after` that share their place. Gives how
 * many, or NO_CAPACITY where either has too little room. */
int64_t search(const segment *segments, int32_t n, const query *q, int64_t k, int64_t after,
               candidate *list, int64_t capacity, candidate *shown, int64_t *n_shown,
               effort *done)
{
    int64_t first = least_of(capacity, k * 2 + 32);
    state s = {{list, 0, capacity, first, k, -1},
               {shown, 0, *n_shown, *n_shown, INT64_MAX, -1},
               {0, 0, 0},
               after,
               0};
    for (int32_t i = 0; i < n; i++) {
        s.number = (uint32_t)i;
        int64_t ended = search_segment(&segments[i], q, &s);
        if (ended) return ended;
    }
    settle(&s.found);
    *n_shown = s.shown.count;
    *done = s.done;
    return s.found.count;
}

/* Sets those of a segment's rows that are eligible; `eligible` holds 0 for each. */
int64_t mark_eligible(const segment *in, const query *q, uint8_t *eligible)
{
    run r;
    if (!begin(&r, in, q)) return NO_MEMORY;
    for (int64_t window = 0; window < in->windows; window++)
        if (passes(&r, window)) find_eligible(&r, window, eligible);
    free(r.scratch);
    return 0;
}

/* The factors of single rows. */
int64_t score_rows(const segment *in, const query *q, const uint32_t *rows, int64_t n, factors *out)
{
    run r;
    if (!begin(&r, in, q)) return NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        const record *one = &in->records[rows[i]];
        factors *f = &out[i];
        uint32_t matched = 0;
        int passed = in->alive[rows[i]] != 0;
        for (int32_t t = 0; t < r.n_terms; t++)
            matched += r.terms[t].weight * impact_of(&r.terms[t], rows[i]);
        for (int32_t t = 0; t < r.n_filters; t++) passed &= impact_of(&r.filters[t], rows[i]) > 0;
        int32_t product = lead_product(in->lead + (int64_t)rows[i] * LEAD_BYTES, &r.meant) +
                          rest_product(one->rest, &r.meant);
        f->lexical = lexical_of(q, matched);
        f->cosine = cosine_of(q, product, in->reciprocal[rows[i]]);
        f->relevance = relevance_of(q, f->lexical, f->cosine);
        f->proximity = proximity_of(q, one);
        f->depth = one->depth;
        f->quality = one->quality;
        f->days = days_of(q, one);
        f->freshness = freshness_of(q, one);
        f->km = q->located ? kilometres(q, squared_chord(q, one), q->chords) : -1;
        f->eligible = passed && is_eligible(q, f->relevance, matched, f->cosine);
        f->score = (int64_t)q->weights[0] * f->relevance + standing_apart(q, one);
    }
    free(r.scratch);
    return n;
}
