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

enum { NO_CAPACITY = -1, NO_ROOM = -2 };

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

/* Where the windows of a term or a filter start, and their peaks. */
static size_t part_bytes(const segment *in)
{
    return in_lines((size_t)(in->windows + 1) * sizeof(uint32_t)) + in_lines((size_t)in->windows);
}

/* What any request may take of room, in the segment that takes most. */
int64_t room_bytes(const segment *segments, int32_t n)
{
    size_t most = 0;
    for (const segment *in = segments; in < segments + n; in++) {
        size_t bytes = (MAX_TERMS + MAX_FILTERS) * part_bytes(in);
        bytes += in_lines((size_t)in->cells * sizeof(float));
        bytes += in_lines(vicinity_bytes(in, (size_t)in->rows / NEAR_SHARE));
        bytes += in_lines(prospects_bytes(in));
        most = bytes > most ? bytes : most;
    }
    return (int64_t)most;
}

static int begin(run *r, const segment *in, const query *q, room own)
{
    r->in = in;
    r->asked = q;
    r->n_terms = r->n_filters = 0;
    r->left = own;
    for (int64_t i = 0; i < q->terms + q->filters; i++) {
        uint32_t *blocks = take(&r->left, (size_t)(in->windows + 1) * sizeof *blocks);
        uint8_t *peaks = take(&r->left, (size_t)in->windows);
        if (!blocks || !peaks) return 0;
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
    return 1;
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

/* The likeliest windows, for a score that is to be beaten: their rows best first, as soon as
 * they are enough. Gives the number of windows, or NO_CAPACITY. */
static int64_t search_likeliest(const run *r, const sieve *v, prospects *p, contenders *c, state *s)
{
    int64_t i = 0;
    for (; i < p->count && c->count < CONTENDERS; i++)
        gather(r, p->order[i], v, p, c, s);
    return look_at_best(r, p->aspects, c, s) ? i : NO_CAPACITY;
}

/* Windows in the order given; 0 where there is no room. */
static int search_windows(const run *r, const int32_t *windows, int64_t count, const sieve *v,
                          const prospects *p, contenders *c, state *s)
{
    for (int64_t i = 0; i < count; i++) {
        gather(r, windows[i], v, p, c, s);
        if (c->count < GROUP) continue;
        if (!look_at(r, p->aspects, c->list, c->count, s)) return 0;
        c->count = 0;
    }
    return 1;
}

/* Instead of the likeliest windows all others that may hold a row of such a score, as they
 * lie in memory, which is several times as fast. */
static void list_others(prospects *p, int64_t windows, float least)
{
    for (int64_t i = 0; i < p->count; i++) p->near[p->order[i]] = NONE;
    p->count = 0;
    for (int64_t w = 0; w < windows; w++) {
        p->order[p->count] = (int32_t)w;
        p->count += p->near[w] >= least; /* no branch, which would be guessed wrong */
    }
}

static int search_in_order(const run *r, const sieve *v, prospects *p, contenders *c, state *s)
{
    const int64_t seen = search_likeliest(r, v, p, c, s);
    if (seen < 0 || !search_windows(r, p->order + seen, p->count - seen, v, p, c, s)) return 0;
    list_others(p, r->in->windows, wanted(s));
    return search_windows(r, p->order, p->count, v, p, c, s) &&
           look_at(r, p->aspects, c->list, c->count, s);
}

static int64_t search_segment(const segment *in, const query *q, room own, state *s)
{
    run r;
    prospects p;
    contenders c;
    if (!begin(&r, in, q, own) || !find_near(&r) || !lay_out(&p, &r)) return NO_ROOM;
    const sieve v = sieve_of(&r);
    c.count = 0;
    look_ahead(&r, &p);
    order_windows(&p, in->windows);
    return search_in_order(&r, &v, &p, &c, s) ? 0 : NO_CAPACITY;
}

/* Fills `list` with all that can be on the page: those at or before the k-th place after
 * the standing `after`, and its equals; and `shown` with those before `after` that share
 * their place. Gives how many, or NO_CAPACITY where either has too little room. */
int64_t search(const segment *segments, int32_t n, const query *q, int64_t k, int64_t after,
               candidate *list, int64_t capacity, candidate *shown, int64_t *n_shown,
               effort *done, room own)
{
    state s = {{list, 0, capacity, least_of(capacity, k + FEW), k, -1, 0},
               {shown, 0, *n_shown, *n_shown, INT64_MAX, -1, 0},
               {0, 0, 0},
               after,
               0};
    for (int32_t i = 0; i < n; i++) {
        s.number = (uint32_t)i;
        int64_t ended = search_segment(&segments[i], q, own, &s);
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
int64_t mark_eligible(const segment *in, const query *q, uint8_t *eligible, room own)
{
    run r;
    if (!begin(&r, in, q, own)) return NO_ROOM;
    for (int64_t window = 0; window < in->windows; window++)
        if (may_pass(&r, window)) find_eligible(&r, window, eligible);
    return 0;
}

/* What a row scores at most by its window, by the sieve and by its sketch; 0 where that
 * tells that it is not eligible. */
typedef struct {
    float window, sieve, sketch;
} row_bounds;

/* The factors of single rows. */
int64_t score_rows(const segment *in, const query *q, const uint32_t *rows, int64_t n, factors *out,
                   room own)
{
    run r;
    if (!begin(&r, in, q, own)) return NO_ROOM;
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
int64_t bound_rows(const segment *in, const query *q, row_bounds *out, room own)
{
    run r;
    prospects p;
    if (!begin(&r, in, q, own) || !find_near(&r) || !lay_out(&p, &r)) return NO_ROOM;
    const sieve v = sieve_of(&r);
    look_ahead(&r, &p);
    for (int64_t window = 0; window < in->windows; window++) {
        work w;
        if (p.near[window] < 0) continue;
        sift_window(&r, window, &v, p.towards[window], 0, &w);
        bound_window_rows(&r, &p, window, &w, out);
    }
    return in->rows;
}
