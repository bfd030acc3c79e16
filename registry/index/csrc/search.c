/* The k best places of a request, exactly: every eligible site is scored, or shown by a
 * bound to be none of them.
 *
 * A few blocks are taken for a score that the k best reach, then all others that can hold
 * a row of such a score, as they lie in memory; of those that only a row near the user can
 * save, the near rows. Of a block's rows the row bounds lets through those that may score it, by
 * what they say, how far they are from the block's axis, and their merit; of these the
 * leading dimensions of their embeddings are read, a line of memory a row; what is
 * left is looked at closely, two lines a row.
 */
#include "eligible.h"
#include "block_bounds.h"

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

/* Where the blocks of a term or a filter start, and their block_max. */
static size_t part_bytes(const segment *in)
{
    return in_lines((size_t)(in->blocks + 1) * sizeof(uint32_t)) + in_lines((size_t)in->blocks);
}

/* What any request may take of room, in the segment that takes most. */
int64_t arena_bytes(const segment *segments, int32_t n)
{
    size_t most = 0;
    for (const segment *in = segments; in < segments + n; in++) {
        size_t bytes = (MAX_TERMS + MAX_FILTERS) * part_bytes(in);
        bytes += in_lines((size_t)in->cells * sizeof(float));
        bytes += in_lines(nearby_rows_bytes(in, (size_t)in->rows / NEAR_SHARE));
        bytes += in_lines(block_bounds_bytes(in));
        most = bytes > most ? bytes : most;
    }
    return (int64_t)most;
}

static int begin(run *r, const segment *in, const query *q, arena own)
{
    r->in = in;
    r->request = q;
    r->n_terms = r->n_filters = 0;
    r->left = own;
    for (int64_t i = 0; i < q->terms + q->filters; i++) {
        uint32_t *block_starts = take(&r->left, (size_t)(in->blocks + 1) * sizeof *block_starts);
        uint8_t *block_max = take(&r->left, (size_t)in->blocks);
        if (!block_starts || !block_max) return 0;
        if (i >= q->terms) {
            resolve(in, q->filter_hashes[i - q->terms], &r->filters[r->n_filters++], block_starts, block_max);
            continue;
        }
        part *term = &r->terms[r->n_terms];
        if (!q->term_weights[i]) continue;
        resolve(in, q->term_hashes[i], term, block_starts, block_max);
        term->weight = (uint32_t)q->term_weights[i];
        r->n_terms += term->block_max != NULL;
    }
    split(q->vector, &r->meant);
    set_limits(r);
    return 1;
}

/* ---- segments ---- */

/* All rows of a block, or those that are near, if they may score what is wanted. */
static void gather(const run *r, int64_t block, const row_limits *v, const block_bounds *p,
                   candidates *c, state *s)
{
    const float least = wanted(s);
    if (p->bounds[block] >= least)
        search_block(r, block, v, p->towards[block], c, s);
    else if (p->near[block] >= least)
        gather_near(r, block, p->peak[block], p->bounds[block], least, c);
}

/* The likeliest blocks, for a score that is to be beaten: their rows best first, as soon as
 * they are enough. Gives the number of blocks, or NO_CAPACITY. */
static int64_t search_likeliest(const run *r, const row_limits *v, block_bounds *p, candidates *c, state *s)
{
    int64_t i = 0;
    for (; i < p->count && c->count < CANDIDATES; i++)
        gather(r, p->order[i], v, p, c, s);
    return look_at_best(r, p->aspects, c, s) ? i : NO_CAPACITY;
}

/* Blocks in the order given; 0 where there is no room. */
static int search_blocks(const run *r, const int32_t *blocks, int64_t count, const row_limits *v,
                          const block_bounds *p, candidates *c, state *s)
{
    for (int64_t i = 0; i < count; i++) {
        gather(r, blocks[i], v, p, c, s);
        if (c->count < GROUP) continue;
        if (!look_at(r, p->aspects, c->list, c->count, s)) return 0;
        c->count = 0;
    }
    return 1;
}

/* Instead of the likeliest blocks all others that may hold a row of such a score, as they
 * lie in memory, which is several times as fast. */
static void list_others(block_bounds *p, int64_t blocks, float least)
{
    for (int64_t i = 0; i < p->count; i++) p->near[p->order[i]] = NONE;
    p->count = 0;
    for (int64_t w = 0; w < blocks; w++) {
        p->order[p->count] = (int32_t)w;
        p->count += p->near[w] >= least; /* no branch, which would be guessed wrong */
    }
}

static int search_in_order(const run *r, const row_limits *v, block_bounds *p, candidates *c, state *s)
{
    const int64_t seen = search_likeliest(r, v, p, c, s);
    if (seen < 0 || !search_blocks(r, p->order + seen, p->count - seen, v, p, c, s)) return 0;
    list_others(p, r->in->blocks, wanted(s));
    return search_blocks(r, p->order, p->count, v, p, c, s) &&
           look_at(r, p->aspects, c->list, c->count, s);
}

static int64_t search_segment(const segment *in, const query *q, arena own, state *s)
{
    run r;
    block_bounds p;
    candidates c;
    if (!begin(&r, in, q, own) || !find_near(&r) || !lay_out(&p, &r)) return NO_MEMORY;
    const row_limits v = row_limits_of(&r);
    c.count = 0;
    look_ahead(&r, &p);
    order_blocks(&p, in->blocks);
    return search_in_order(&r, &v, &p, &c, s) ? 0 : NO_CAPACITY;
}

/* Fills `list` with all that can be on the page: those at or before the k-th place after
 * the rank_score `after`, and its equals; and `seen_groups` with those before `after` that share
 * their place. Gives how many, or NO_CAPACITY where either has too little room. */
int64_t search(const segment *segments, int32_t n, const query *q, int64_t k, int64_t after,
               ranked_row *list, int64_t capacity, ranked_row *seen_groups, int64_t *n_seen,
               effort *done, arena own)
{
    state s = {{list, 0, capacity, least_of(capacity, k + FEW), k, -1, 0},
               {seen_groups, 0, *n_seen, *n_seen, INT64_MAX, -1, 0},
               {0, 0, 0},
               after,
               INT64_MIN,
               0,
               0,
               q};
    for (int32_t i = 0; i < n; i++) {
        s.number = (uint32_t)i;
        int64_t ended = search_segment(&segments[i], q, own, &s);
        if (ended) return ended;
    }
    settle(&s.best);
    *n_seen = s.seen_groups.count;
    *done = s.done;
    return s.best.count;
}

static int may_pass(const run *r, int64_t block)
{
    for (int32_t i = 0; i < r->n_filters; i++)
        if (!r->filters[i].block_max || !r->filters[i].block_max[block]) return 0;
    return 1;
}

/* Sets those of a segment's rows that are eligible; `eligible` holds 0 for each. */
int64_t mark_eligible(const segment *in, const query *q, uint8_t *eligible, arena own)
{
    run r;
    if (!begin(&r, in, q, own)) return NO_MEMORY;
    for (int64_t block = 0; block < in->blocks; block++)
        if (may_pass(&r, block)) find_eligible(&r, block, eligible);
    return 0;
}

/* What a row scores at most by its block, by the row bounds and by its sketch; 0 where that
 * tells that it is not eligible. */
typedef struct {
    float block, row, sketch;
} row_bounds;

/* The factors of single rows. */
int64_t score_rows(const segment *in, const query *q, const uint32_t *rows, int64_t n, factors *out,
                   arena own)
{
    run r;
    if (!begin(&r, in, q, own)) return NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        const record *site = &in->records[rows[i]];
        factors *f = &out[i];
        const uint32_t matched = matched_by(&r, rows[i]);
        int passed = in->alive[rows[i]] != 0;
        for (int32_t t = 0; t < r.n_filters; t++) passed &= impact_of(&r.filters[t], rows[i]) > 0;
        const sketch *brief = &in->sketches[rows[i]];
        int32_t product = lead_product(brief, &r.meant) + rest_product(site, &r.meant);
        f->lexical = lexical_of(q, matched);
        f->cosine = cosine_of(q, product, brief->reciprocal);
        f->relevance = relevance_of(q, f->lexical, f->cosine);
        f->proximity = proximity_of(q, site);
        f->depth = site->depth;
        f->quality = site->quality;
        f->days = days_of(q, site);
        f->freshness = freshness_of(q, site);
        f->km = q->located ? kilometres(q, squared_chord(q, site), q->chords) : -1;
        f->eligible = passed && is_eligible(q, f->relevance, matched, f->cosine);
        f->score = (int64_t)q->weights[0] * f->relevance + score_apart(q, site);
    }
    return n;
}

static float sketch_bound(const run *r, const block_bounds *p, const candidate *row)
{
    close_row narrowed = {0, 0, 0, 0};
    if (row->bound) narrow(r, p->aspects, row, 1, 0, &narrowed);
    return narrowed.bound;
}

static void bound_block_rows(const run *r, const block_bounds *p, int64_t block, const work *w,
                              row_bounds *out)
{
    const int64_t first = block * BLOCK_ROWS, rows = least_of(BLOCK_ROWS, r->in->rows - first);
    candidates near;
    for (int i = 0; i < rows; i++) {
        const candidate row = {(uint32_t)(first + i), w->bounds[i], w->lexical[i], w->apart[i]};
        out[first + i].block = p->bounds[block];
        out[first + i].row = (float)row.bound * UNIT;
        out[first + i].sketch = sketch_bound(r, p, &row);
    }
    near.count = 0;
    gather_near(r, block, p->peak[block], p->bounds[block], 0, &near);
    for (int i = 0; i < near.count; i++) {
        row_bounds *own = &out[near.list[i].row];
        const float sketched = sketch_bound(r, p, &near.list[i]);
        own->block = (float)near.list[i].bound * UNIT;
        own->sketch = own->sketch < sketched ? own->sketch : sketched;
    }
}

/* The bounds of all rows of a segment, for who would see that none is too low; `out` holds 0. */
int64_t bound_rows(const segment *in, const query *q, row_bounds *out, arena own)
{
    run r;
    block_bounds p;
    if (!begin(&r, in, q, own) || !find_near(&r) || !lay_out(&p, &r)) return NO_MEMORY;
    const row_limits v = row_limits_of(&r);
    look_ahead(&r, &p);
    for (int64_t block = 0; block < in->blocks; block++) {
        work w;
        if (p.near[block] < 0) continue;
        filter_block(&r, block, &v, p.towards[block], 0, &w);
        bound_block_rows(&r, &p, block, &w, out);
    }
    return in->rows;
}
