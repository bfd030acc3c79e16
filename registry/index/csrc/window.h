/* One window: which of its rows may stand on the page, and which are taken. */
#ifndef WINDOW_H
#define WINDOW_H

#include "places.h"
#include "sieve.h"

/* A row that its window's sieve lets through. bound, lexical, apart: see `sieve.h`. */
typedef struct {
    uint32_t row;
    uint16_t bound, lexical, apart;
} contender;

enum { CONTENDERS = 512, STEP = 64, STEPS = 65536 / STEP, GROUP = 128 };

typedef struct {
    contender list[CONTENDERS + WINDOW], sorted[CONTENDERS + WINDOW];
    int count;
} contenders;

typedef struct {
    uint16_t lexical[WINDOW], apart[WINDOW], bounds[WINDOW];
    uint8_t passed[WINDOW];
} work;

/* What a search has found, and what it did. after: greater standings were given before.
 * number: of the segment. */
typedef struct {
    places found, shown;
    effort done;
    int64_t after;
    uint32_t number;
} state;

static float wanted(const state *s)
{
    return (float)s->found.least / 2;
}

/* ---- all rows ---- */

static void add_block(const part *one, int64_t window, uint16_t most, uint16_t *lexical)
{
    const uint32_t end = one->blocks[window + 1];
    for (uint32_t i = one->blocks[window]; i < end; i++) {
        uint32_t own = ((one->postings[i] & 255) * one->step >> 8) + one->base;
        uint32_t sum = lexical[(one->postings[i] >> 8) % WINDOW] + own;
        lexical[(one->postings[i] >> 8) % WINDOW] = (uint16_t)(sum < most ? sum : most);
    }
}

static void add_words(const run *r, int64_t window, const sieve *s, work *w)
{
    memset(w->lexical, 0, sizeof w->lexical);
    for (int32_t t = 0; t < r->n_terms; t++) {
        const part *one = &r->terms[t];
        if (!one->peaks[window]) continue;
        if (!one->column) add_block(one, window, s->lexical_most, w->lexical);
        else add_column(w->lexical, one->column + window * WINDOW, one->step, one->base, s->lexical_most);
    }
}

static void pass_filters(const run *r, int64_t window, uint8_t *passed)
{
    memset(passed, 0, WINDOW);
    for (int32_t f = 0; f < r->n_filters; f++) {
        const part *one = &r->filters[f];
        if (one->column) {
            const uint8_t *column = one->column + window * WINDOW;
            for (int i = 0; i < WINDOW; i++) passed[i] = (uint8_t)(passed[i] + (column[i] > 0));
            continue;
        }
        for (uint32_t i = one->blocks[window]; i < one->blocks[window + 1]; i++)
            passed[(one->postings[i] >> 8) % WINDOW]++;
    }
}

static void hold_passing(const run *r, int64_t window, work *w)
{
    pass_filters(r, window, w->passed);
    for (int i = 0; i < WINDOW; i++) w->bounds[i] = w->passed[i] == r->n_filters ? w->bounds[i] : 0;
}

/* Which of sixteen numbers are not 0, the first lowest. */
static inline uint32_t which_hold(const uint16_t *bounds)
{
#if defined(__SSSE3__)
    const __m128i none = _mm_setzero_si128();
    __m128i low = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)bounds), none);
    __m128i high = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)(bounds + 8)), none);
    return ~(uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high)) & 0xffff;
#else
    uint32_t which = 0;
    for (int i = 0; i < 16; i++) which |= (uint32_t)(bounds[i] != 0) << i;
    return which;
#endif
}

static void collect(const run *r, int64_t window, const work *w, contenders *c)
{
    const uint32_t first = (uint32_t)window * WINDOW;
    contender *next = c->list + c->count;
    for (int i = 0; i < WINDOW; i += 16) {
        for (uint32_t which = which_hold(w->bounds + i); which; which &= which - 1) {
            const int at = i + __builtin_ctz(which);
            __builtin_prefetch(&r->in->sketches[first + (uint32_t)at]);
            *next++ = (contender){first + (uint32_t)at, w->bounds[at], w->lexical[at], w->apart[at]};
        }
    }
    c->count = (int)(next - c->list);
}

/* Best first, by steps. */
static void sort_contenders(contenders *c)
{
    int32_t starts[STEPS + 1] = {0};
    for (int i = 0; i < c->count; i++) starts[STEPS - c->list[i].bound / STEP]++;
    for (int i = 0; i < STEPS; i++) starts[i + 1] += starts[i];
    for (int i = 0; i < c->count; i++)
        c->sorted[starts[STEPS - 1 - c->list[i].bound / STEP]++] = c->list[i];
}

/* ---- rows ---- */

typedef struct {
    uint32_t row;
    int32_t product; /* of the leading dimensions */
    float bound;
} close_row;

/* Those of a group of rows that hold by their leading dimensions, best first. */
static int narrow(const run *r, const aspect *aspects, const contender *group, int size, float least,
                  close_row *out)
{
    const float weight = (float)r->asked->weights[0], full = weight * FULL;
    const float gain = weight * r->cosine_gain, floor = weight * (float)r->asked->floor;
    const float alone = (float)r->asked->meaning_only_min;
    int kept = 0;
    for (int i = 0; i < size; i++) {
        const uint32_t row = group[i].row;
        const sketch *one = &r->in->sketches[row];
        const int32_t product = lead_product(one, &r->meant);
        float cosine = row_cosine_bound(r, &aspects[row / WINDOW], one, product);
        float relevance = (float)group[i].lexical * UNIT + gain * cosine + weight;
        relevance = relevance < full ? relevance : full;
        float bound = relevance + (float)group[i].apart * UNIT + SLACK;
        if (bound < least || relevance < floor || !(group[i].lexical || cosine >= alone)) continue;
        __builtin_prefetch(&r->in->records[row]);
        int at = kept++;
        for (; at > 0 && out[at - 1].bound < bound; at--) out[at] = out[at - 1];
        out[at] = (close_row){row, product, bound};
    }
    return kept;
}

static int64_t leader_of(const segment *in, uint32_t row)
{
    int64_t low = 0, high = in->grouped;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (in->grouped_rows[middle] < row) low = middle + 1;
        else high = middle;
    }
    return in->grouped_leaders[low];
}

/* Takes the row if it is eligible and may be on the page; 0 where there is no room. */
static int take_row(const run *r, uint32_t row, int32_t product, state *s)
{
    if (!r->in->alive[row]) return 1;
    const query *q = r->asked;
    const record *one = &r->in->records[row];
    const uint32_t matched = matched_by(r, row);
    s->done.records++;
    product += rest_product(one, &r->meant);
    const int32_t cosine = cosine_of(q, product, r->in->sketches[row].reciprocal);
    const int32_t relevance = relevance_of(q, lexical_of(q, matched), cosine);
    if (!is_eligible(q, relevance, matched, cosine)) return 1;
    const int tier = (one->flags & HIGHER_TIER) != 0;
    const int64_t score = (int64_t)q->weights[0] * relevance + standing_apart(q, one);
    candidate taken = {2 * score - tier, 0, s->number, row};
    if (one->flags & GROUPED) taken.leader = leader_of(r->in, row);
    if (taken.standing > s->after) return !taken.leader || add(&s->shown, &taken);
    return add(&s->found, &taken);
}

static int take_rows(const run *r, const close_row *rows, int count, state *s)
{
    for (int i = 0; i < count && rows[i].bound >= wanted(s); i++)
        if (!take_row(r, rows[i].row, rows[i].product, s)) return 0;
    return 1;
}

/* Looks at contenders in the order given; 0 where there is no room. */
static int look_at(const run *r, const aspect *aspects, const contender *list, int count, state *s)
{
    close_row rows[GROUP];
    for (int start = 0; start < count; start += GROUP) {
        const int size = (int)least_of(GROUP, count - start);
        s->done.sketches += size;
        const int kept = narrow(r, aspects, list + start, size, wanted(s), rows);
        if (!take_rows(r, rows, kept, s)) return 0;
    }
    return 1;
}

/* Looks at all contenders, the best first, until none of those left can stand. */
static int look_at_best(const run *r, const aspect *aspects, contenders *c, state *s)
{
    int count = 0;
    sort_contenders(c);
    while (count < c->count) {
        const int size = (int)least_of(GROUP, c->count - count);
        if ((float)(c->sorted[count].bound | (STEP - 1)) * UNIT + UNIT < wanted(s)) break;
        if (!look_at(r, aspects, c->sorted + count, size, s)) return 0;
        count += size;
    }
    c->count = 0;
    return 1;
}

static void look_up_places(const run *r, int64_t window, work *w)
{
    const uint16_t *cell = r->in->cell + window * WINDOW;
    if (r->asked->located && (r->in->window_flags[window] & HAS_LOCAL))
        for (int i = 0; i < WINDOW; i++) w->apart[i] = r->near_units[cell[i]];
    else /* all are equally near: cells need not be read */
        for (int i = 0; i < WINDOW; i++) w->apart[i] = r->near_units[0];
}

static void fetch(const void *start, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch((const char *)start + i);
}

/* Has a window's columns on their way. */
static void fetch_window(const run *r, int64_t window)
{
    const int64_t first = window * WINDOW;
    fetch(r->in->along + first, WINDOW);
    fetch(r->in->across + first, WINDOW);
    fetch(r->in->behind + first, WINDOW);
    if (r->asked->located && (r->in->window_flags[window] & HAS_LOCAL)) fetch(r->in->cell + first, WINDOW * sizeof(uint16_t));
    for (int32_t t = 0; t < r->n_terms; t++) {
        const part *one = &r->terms[t];
        if (!one->peaks[window]) continue;
        if (one->column) fetch(one->column + first, WINDOW);
        else __builtin_prefetch(one->postings + one->blocks[window]);
    }
}

/* The bounds of a window's rows, and what they come from; 0 where a row is ruled out. */
static void sift_window(const run *r, int64_t window, const sieve *v, const aspect *a, float least,
                        work *w)
{
    const int64_t first = window * WINDOW;
    const segment *in = r->in;
    add_words(r, window, v, w);
    look_up_places(r, window, w);
    const mesh m = mesh_of(v, a->towards, in->window_merit[window], least);
    sift(v, &m, w->lexical, in->along + first, in->across + first, in->behind + first, w->apart,
         w->bounds);
    for (int64_t i = in->rows - first; i < WINDOW; i++) w->bounds[i] = 0;
    if (r->n_filters) hold_passing(r, window, w);
}

static void search_window(const run *r, int64_t window, const sieve *v, const aspect *a, contenders *c,
                          state *s)
{
    work w;
    s->done.windows++;
    sift_window(r, window, v, a, wanted(s), &w);
    collect(r, window, &w, c);
}

#endif
