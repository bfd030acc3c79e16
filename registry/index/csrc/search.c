/* The k best places of a request, exactly: every eligible site is scored, or shown by a
 * bound to be none of them.
 *
 * A few windows are taken for a score that the k best reach, then all others that can hold
 * a row of such a score, as they lie in memory; of those that only a row near the user can
 * save, the near rows. Of a window's rows a sieve lets through those that may score it, by
 * what they say, how far they are from the window's axis, and their merit; of these the
 * leading dimensions of their embeddings are read, half a line of memory a row; what is
 * left is looked at closely, one line a row.
 */
#include "eligible.h"
#include "prospects.h"

/* The digest of the sources, by which the caller knows that these structs are its own. */
const char sources[] = SOURCES;

enum { NO_CAPACITY = -1, NO_MEMORY = -2 };

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
    if (!(r->scratch = malloc((size_t)parts * each + 1))) return 0;
    uint32_t *blocks = r->scratch;
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
    r->near.starts = NULL;
    return 1;
}

static void end(run *r)
{
    free(r->near.starts);
    free(r->scratch);
}

/* ---- segments ---- */

/* All rows of a window, or those that are near, if they may score what is wanted. */
static void gather(const run *r, int64_t window, const sieve *v, const prospects *p,
                   contenders *c, state *s)
{
    const float least = wanted(s);
    if (p->bounds[window] >= least)
        search_window(r, window, v, p->towards[window], c, s);
    else if (p->near[window] >= least)
        gather_near(r, window, p->peak[window], p->bounds[window], least, c);
}

/* The likeliest windows, each batch of rows best first, for a score that is to be beaten. */
static int search_likeliest(const run *r, const sieve *v, prospects *p, contenders *c, state *s)
{
    for (int64_t i = 0; i < p->count && i < FIRST_WINDOWS; i++) {
        const int64_t window = p->order[i];
        gather(r, window, v, p, c, s);
        p->bounds[window] = p->near[window] = -1;
        if (c->count >= CONTENDERS && !look_at_best(r, p->aspects, c, s)) return 0;
    }
    return look_at_best(r, p->aspects, c, s);
}

/* The first from there on that may hold a row of such a score; else `windows`. */
static int64_t next_window(const prospects *p, int64_t window, int64_t windows, float least)
{
    while (window < windows && p->near[window] < least) window++;
    return window;
}

/* The others as they lie in memory, which is several times as fast. */
static int search_others(const run *r, const sieve *v, const prospects *p, contenders *c, state *s)
{
    int64_t next = next_window(p, 0, r->in->windows, wanted(s));
    while (next < r->in->windows) {
        const int64_t window = next;
        next = next_window(p, window + 1, r->in->windows, wanted(s));
        if (next < r->in->windows) fetch_window(r, next);
        gather(r, window, v, p, c, s);
        if (c->count < GROUP) continue;
        if (!look_at(r, p->aspects, c->list, c->count, s)) return 0;
        c->count = 0;
    }
    return look_at(r, p->aspects, c->list, c->count, s);
}

static int64_t search_segment(const segment *in, const query *q, state *s)
{
    run r;
    prospects p;
    contenders c;
    int64_t ended = NO_MEMORY;
    if (!begin(&r, in, q)) return NO_MEMORY;
    const sieve v = sieve_of(&r);
    c.count = 0;
    if (find_near(&r) && make_room(&p, in->windows)) {
        look_ahead(&r, &p);
        order_windows(&p, in->windows);
        int found = search_likeliest(&r, &v, &p, &c, s) && search_others(&r, &v, &p, &c, s);
        ended = found ? 0 : NO_CAPACITY;
        free(p.aspects);
    }
    end(&r);
    return ended;
}

/* Fills `list` with all that can be on the page: those at or before the k-th place after
 * the standing `after`, and its equals; and `shown` with those before `after` that share
 * their place. Gives how many, or NO_CAPACITY where either has too little room. */
int64_t search(const segment *segments, int32_t n, const query *q, int64_t k, int64_t after,
               candidate *list, int64_t capacity, candidate *shown, int64_t *n_shown,
               effort *done)
{
    int64_t first = least_of(capacity, k);
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

static int may_pass(const run *r, int64_t window)
{
    for (int32_t i = 0; i < r->n_filters; i++)
        if (!r->filters[i].peaks || !r->filters[i].peaks[window]) return 0;
    return 1;
}

/* Sets those of a segment's rows that are eligible; `eligible` holds 0 for each. */
int64_t mark_eligible(const segment *in, const query *q, uint8_t *eligible)
{
    run r;
    if (!begin(&r, in, q)) return NO_MEMORY;
    for (int64_t window = 0; window < in->windows; window++)
        if (may_pass(&r, window)) find_eligible(&r, window, eligible);
    end(&r);
    return 0;
}

/* What a row scores at most by its window, by the sieve and by its sketch; 0 where that
 * tells that it is not eligible. */
typedef struct {
    float window, sieve, sketch;
} row_bounds;

/* The factors of single rows. */
int64_t score_rows(const segment *in, const query *q, const uint32_t *rows, int64_t n, factors *out)
{
    run r;
    if (!begin(&r, in, q)) return NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        const record *one = &in->records[rows[i]];
        factors *f = &out[i];
        const uint32_t matched = matched_by(&r, rows[i]);
        int passed = in->alive[rows[i]] != 0;
        for (int32_t t = 0; t < r.n_filters; t++) passed &= impact_of(&r.filters[t], rows[i]) > 0;
        const sketch *brief = &in->sketches[rows[i]];
        int32_t product = lead_product(brief, &r.meant) + rest_product(one, &r.meant);
        f->lexical = lexical_of(q, matched);
        f->cosine = cosine_of(q, product, brief->reciprocal);
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
    end(&r);
    return n;
}

static float sketch_bound(const run *r, const prospects *p, const contender *one)
{
    close_row kept = {0, 0, 0, 0};
    if (one->bound) narrow(r, p->aspects, one, 1, 0, &kept);
    return kept.bound;
}

static void bound_window_rows(const run *r, const prospects *p, int64_t window, const work *w,
                              row_bounds *out)
{
    const int64_t first = window * WINDOW, rows = least_of(WINDOW, r->in->rows - first);
    contenders near;
    for (int i = 0; i < rows; i++) {
        const contender one = {(uint32_t)(first + i), w->bounds[i], w->lexical[i], w->apart[i]};
        out[first + i].window = p->bounds[window];
        out[first + i].sieve = (float)one.bound * UNIT;
        out[first + i].sketch = sketch_bound(r, p, &one);
    }
    near.count = 0;
    gather_near(r, window, p->peak[window], p->bounds[window], 0, &near);
    for (int i = 0; i < near.count; i++) {
        row_bounds *own = &out[near.list[i].row];
        const float sketched = sketch_bound(r, p, &near.list[i]);
        own->window = (float)near.list[i].bound * UNIT;
        own->sketch = own->sketch < sketched ? own->sketch : sketched;
    }
}

/* The bounds of all rows of a segment, for who would see that none is too low; `out` holds 0. */
int64_t bound_rows(const segment *in, const query *q, row_bounds *out)
{
    run r;
    prospects p;
    int64_t ended = NO_MEMORY;
    if (!begin(&r, in, q)) return NO_MEMORY;
    const sieve v = sieve_of(&r);
    if (find_near(&r) && make_room(&p, in->windows)) {
        ended = in->rows;
        look_ahead(&r, &p);
        for (int64_t window = 0; window < in->windows; window++) {
            work w;
            if (p.near[window] < 0) continue;
            sift_window(&r, window, &v, p.towards[window], 0, &w);
            bound_window_rows(&r, &p, window, &w, out);
        }
        free(p.aspects);
    }
    end(&r);
    return ended;
}
