/* One block: which of its rows may stand on the page, and which are taken. */
#ifndef BLOCK_H
#define BLOCK_H

#include "top_k.h"
#include "row_bounds.h"
#include "sketches.h"
#include "nearby_rows.h"

enum { CANDIDATES = 512, STEP = 64, STEPS = 65536 / STEP };

typedef struct {
    candidate list[CANDIDATES + BLOCK_ROWS], sorted[CANDIDATES + BLOCK_ROWS];
    int count;
} candidates;

typedef struct {
    uint16_t lexical[BLOCK_ROWS], apart[BLOCK_ROWS], bounds[BLOCK_ROWS];
    uint8_t passed[BLOCK_ROWS];
} work;

/* What a search has found, and what it did. after: greater rank scores were given before.
 * least, wanted: of the k-th place, and the least score that may be there. number: of the
 * segment. */
typedef struct {
    top_k best, seen_groups;
    effort done;
    int64_t after, least;
    float wanted;
    uint32_t number;
    const query *request;
} state;

/* Of a row that is shown with the score of the k-th place nothing else is held against it. */
static inline float wanted(state *s)
{
    if (s->least != s->best.least) {
        s->least = s->best.least;
        s->wanted = least_score(s->request, s->least);
    }
    return s->wanted;
}

/* ---- all rows ---- */

static void add_block(const part *term, int64_t block, uint16_t most, uint16_t *lexical)
{
    const uint32_t end = term->block_starts[block + 1];
    for (uint32_t i = term->block_starts[block]; i < end; i++) {
        uint32_t own = ((term->postings[i] & 255) * term->step >> 8) + term->base;
        uint32_t sum = lexical[(term->postings[i] >> 8) % BLOCK_ROWS] + own;
        lexical[(term->postings[i] >> 8) % BLOCK_ROWS] = (uint16_t)(sum < most ? sum : most);
    }
}

static void add_words(const run *r, int64_t block, const row_limits *s, work *w)
{
    for (int32_t t = 0; t < r->n_terms; t++) {
        const part *term = &r->terms[t];
        if (!term->block_max[block]) continue;
        if (!term->column)
            add_block(term, block, s->lexical_most, w->lexical);
        else
            add_column(w->lexical, term->column + block * BLOCK_ROWS, term->step, term->base,
                       s->lexical_most);
    }
}

static void pass_filters(const run *r, int64_t block, uint8_t *passed)
{
    memset(passed, 0, BLOCK_ROWS);
    for (int32_t f = 0; f < r->n_filters; f++) {
        const part *term = &r->filters[f];
        if (term->column) {
            const uint8_t *column = term->column + block * BLOCK_ROWS;
            for (int i = 0; i < BLOCK_ROWS; i++) passed[i] = (uint8_t)(passed[i] + (column[i] > 0));
            continue;
        }
        for (uint32_t i = term->block_starts[block]; i < term->block_starts[block + 1]; i++)
            passed[(term->postings[i] >> 8) % BLOCK_ROWS]++;
    }
}

static void hold_passing(const run *r, int64_t block, work *w)
{
    pass_filters(r, block, w->passed);
    for (int i = 0; i < BLOCK_ROWS; i++)
        w->bounds[i] = w->passed[i] == r->n_filters ? w->bounds[i] : 0;
}

/* Which of sixteen numbers are not 0, the first lowest. */
static inline uint64_t which_hold(const uint16_t *bounds)
{
#if defined(__SSSE3__)
    const __m128i none = _mm_setzero_si128();
    __m128i low = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)bounds), none);
    __m128i high = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)(bounds + 8)), none);
    return ~(uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high)) & 0xffff;
#else
    uint64_t which = 0;
    for (int i = 0; i < 16; i++) which |= (uint64_t)(bounds[i] != 0) << i;
    return which;
#endif
}

static void collect(const run *r, int64_t block, const work *w, candidates *c)
{
    const uint32_t first = (uint32_t)block * BLOCK_ROWS;
    candidate *next = c->list + c->count;
    for (int i = 0; i < BLOCK_ROWS; i += 64) {
        uint64_t which = 0;
        for (int part = 0; part < 64; part += 16) which |= which_hold(w->bounds + i + part) << part;
        for (; which; which &= which - 1) {
            const int at = i + __builtin_ctzll(which);
            __builtin_prefetch(&r->in->sketches[first + (uint32_t)at]);
            *next++ = (candidate){first + (uint32_t)at, w->bounds[at], w->lexical[at], w->apart[at]};
        }
    }
    c->count = (int)(next - c->list);
}

static int passes_filters(const run *r, uint32_t row)
{
    for (int32_t f = 0; f < r->n_filters; f++)
        if (!impact_of(&r->filters[f], row)) return 0;
    return 1;
}

/* Those near rows that may score what is wanted if they say what anyone says in their block
 * and have the best merit there. peak: what the words of the block weigh at most. others:
 * the bound of its rows that are not near. */
static void gather_near(const run *r, int64_t block, float peak, float others, float least,
                        candidates *c)
{
    const nearby_rows *v = &r->near;
    const uint16_t lexical = peak_units(r, peak);
    const float apart_from_place = others - (float)apart_from_near(r, block) * UNIT;
    const uint16_t merit = (uint16_t)(r->in->block_merit[block] / (UNIT / MERIT_UNIT) + 1);
    for (uint32_t i = v->starts[block]; i < v->starts[block + 1]; i++) {
        const uint32_t row = (uint32_t)block * BLOCK_ROWS + v->rows[i].at;
        const float bound = apart_from_place + (float)v->rows[i].units * UNIT;
        if (bound < least || !passes_filters(r, row)) continue;
        __builtin_prefetch(&r->in->sketches[row]);
        c->list[c->count++] = (candidate){row, (uint16_t)(bound / UNIT + 1), lexical,
                                          (uint16_t)(v->rows[i].units + merit)};
    }
}

/* Best first, by steps. */
static void sort_candidates(candidates *c)
{
    int32_t starts[STEPS + 1] = {0};
    for (int i = 0; i < c->count; i++) starts[STEPS - c->list[i].bound / STEP]++;
    for (int i = 0; i < STEPS; i++) starts[i + 1] += starts[i];
    for (int i = 0; i < c->count; i++)
        c->sorted[starts[STEPS - 1 - c->list[i].bound / STEP]++] = c->list[i];
}

/* ---- rows ---- */

static int64_t representative_of(const segment *in, uint32_t row)
{
    int64_t low = 0, high = in->grouped;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (in->grouped_rows[middle] < row) low = middle + 1;
        else high = middle;
    }
    return in->representatives[low];
}

/* Takes the row if it is eligible and may be on the page; 0 where there is no room. What it
 * says is looked up last, and only if its meaning leaves it a chance. */
static int take_row(const run *r, const close_row *near, state *s)
{
    const query *q = r->request;
    const uint32_t row = near->row;
    const record *site = &r->in->records[row];
    s->done.records++;
    const int32_t product = near->product + rest_product(site, &r->meant);
    const int32_t cosine = cosine_of(q, product, r->in->sketches[row].reciprocal);
    if (cosine < least_of(q->meaning_min, q->meaning_only_min)) return 1;
    const float meant = (float)q->weights[0] * (r->cosine_gain * (float)cosine + 1);
    if (near->apart + meant < wanted(s) || !r->in->alive[row]) return 1;
    const uint32_t matched = matched_by(r, row);
    const int32_t relevance = relevance_of(q, lexical_of(q, matched), cosine);
    if (!is_eligible(q, relevance, matched, cosine)) return 1;
    const int64_t score = (int64_t)q->weights[0] * relevance + score_apart(q, site);
    ranked_row taken = {rank_score_of(q, score, relevance, site), 0, s->number, row};
    if (site->flags & GROUPED) taken.representative = representative_of(r->in, row);
    if (taken.rank_score > s->after) return !taken.representative || add(&s->seen_groups, &taken);
    return insert(&s->best, &taken);
}

static int take_rows(const run *r, const close_row *rows, int count, state *s)
{
    for (int i = 0; i < count; i++)
        if (rows[i].bound >= wanted(s) && !take_row(r, &rows[i], s)) return 0;
    return 1;
}

/* Looks at candidates in the order given; 0 where there is no room. */
static int look_at(const run *r, const aspect *aspects, const candidate *list, int count, state *s)
{
    close_row rows[GROUP];
    for (int start = 0; start < count; start += GROUP) {
        const int size = (int)least_of(GROUP, count - start);
        s->done.sketches += size;
        const int narrowed = narrow(r, aspects, list + start, size, wanted(s), rows);
        if (!take_rows(r, rows, narrowed, s)) return 0;
    }
    return 1;
}

/* Looks at all candidates, the best first, until none of those left can stand. */
static int look_at_best(const run *r, const aspect *aspects, candidates *c, state *s)
{
    int count = 0;
    sort_candidates(c);
    while (count < c->count) {
        const int size = (int)least_of(GROUP, c->count - count);
        if ((float)(c->sorted[count].bound | (STEP - 1)) * UNIT + UNIT < wanted(s)) break;
        if (!look_at(r, aspects, c->sorted + count, size, s)) return 0;
        count += size;
    }
    c->count = 0;
    return 1;
}

FOR_EACH_MACHINE
static void fill(uint16_t *restrict column, uint16_t value)
{
    for (int i = 0; i < BLOCK_ROWS; i++) column[i] = value;
}

static void look_up_places(const run *r, int64_t block, uint16_t *apart)
{
    const nearby_rows *v = &r->near;
    for (uint32_t i = v->starts[block]; i < v->starts[block + 1]; i++)
        apart[v->rows[i].at] = v->rows[i].units;
}

/* The bounds of a block's rows, and what they come from; 0 where a row is ruled out. */
static void filter_block(const run *r, int64_t block, const row_limits *v, float towards, float least,
                        work *w)
{
    const int64_t first = block * BLOCK_ROWS;
    const segment *in = r->in;
    fill(w->lexical, 0);
    fill(w->apart, apart_from_near(r, block));
    add_words(r, block, v, w);
    look_up_places(r, block, w->apart);
    const block_limits m = block_limits_of(v, towards, in->block_merit[block], least);
    filter_rows(v, &m, w->lexical, in->along + first, in->across + first, in->behind + first, w->apart,
         w->bounds);
    for (int64_t i = in->rows - first; i < BLOCK_ROWS; i++) w->bounds[i] = 0;
    if (r->n_filters) hold_passing(r, block, w);
}

static void search_block(const run *r, int64_t block, const row_limits *v, float towards,
                         candidates *c, state *s)
{
    work w;
    s->done.blocks++;
    filter_block(r, block, v, towards, wanted(s), &w);
    collect(r, block, &w, c);
}

#endif
