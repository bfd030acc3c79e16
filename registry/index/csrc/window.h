/* One window: what its rows may score, and which are taken. */
#ifndef WINDOW_H
#define WINDOW_H

#include "bounds.h"
#include "places.h"

typedef struct {
    uint32_t matched[WINDOW];
    int32_t products[WINDOW];
    uint8_t passed[WINDOW], holds[WINDOW];
    uint8_t open[WINDOW];
    int n_open;
    float cosine, others; /* bounds of the window: of meaning, of all but relevance */
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

static void add_column(uint32_t *restrict matched, const uint8_t *restrict column, uint32_t weight)
{
    for (int i = 0; i < WINDOW; i++) matched[i] += weight * column[i];
}

static void add_block(const part *one, int64_t window, work *w)
{
    uint32_t end = one->blocks[window + 1];
    for (uint32_t i = one->blocks[window]; i < end; i++)
        w->matched[(one->postings[i] >> 8) % WINDOW] += one->weight * (one->postings[i] & 255);
}

static void add_term(const part *one, int64_t window, work *w)
{
    if (one->column) add_column(w->matched, one->column + window * WINDOW, one->weight);
    else add_block(one, window, w);
}

/* A dense term, for the open rows alone. */
static void add_to_open(const part *one, int64_t window, work *w)
{
    const uint8_t *column = one->column + window * WINDOW;
    for (int i = 0; i < w->n_open; i++) w->matched[w->open[i]] += one->weight * column[w->open[i]];
}

static void pass_filters(const run *r, int64_t window, work *w)
{
    memset(w->passed, 0, WINDOW);
    for (int32_t f = 0; f < r->n_filters; f++) {
        const part *one = &r->filters[f];
        if (one->column) {
            const uint8_t *column = one->column + window * WINDOW;
            for (int i = 0; i < WINDOW; i++) w->passed[i] = (uint8_t)(w->passed[i] + (column[i] > 0));
            continue;
        }
        for (uint32_t i = one->blocks[window]; i < one->blocks[window + 1]; i++)
            w->passed[(one->postings[i] >> 8) % WINDOW]++;
    }
}

static uint32_t postings_in(const part *one, int64_t window)
{
    return one->column ? UINT32_MAX : one->blocks[window + 1] - one->blocks[window];
}

/* Orders the terms by falling number of rows and tells how many of them cannot, even
 * together, lift a row to what is wanted; -1 where a row can do without any. */
static int optional_terms(const run *r, int64_t window, const work *w, float least, int *order)
{
    const query *q = r->asked;
    float matched = 0;
    int optional = 0;
    for (int t = 0; t < r->n_terms; t++) {
        int at = t;
        uint32_t own = postings_in(&r->terms[t], window);
        for (; at > 0 && postings_in(&r->terms[order[at - 1]], window) < own; at--)
            order[at] = order[at - 1];
        order[at] = t;
    }
    for (int next = -1; next < r->n_terms; next++) {
        if (next >= 0) matched += (float)r->terms[order[next]].weight * r->terms[order[next]].peaks[window];
        float relevance = relevance_bound(r, matched * r->lexical_slope, w->cosine);
        int can = relevance >= (float)q->floor &&
                  (float)q->weights[0] * relevance + w->others >= least;
        if (next < 0 && can && w->cosine >= (float)q->meaning_only_min) return -1;
        if (next >= 0 && can) break;
        optional = next + 1;
    }
    return optional;
}

/* Opens the rows that have one of the terms that are not optional. */
static void open_matching(const run *r, int64_t window, const int *order, int optional, work *w)
{
    w->n_open = 0;
    for (int n = r->n_terms - 1; n >= 0; n--) {
        const part *one = &r->terms[order[n]];
        if (one->column) continue;
        uint32_t end = one->blocks[window + 1];
        for (uint32_t i = one->blocks[window]; i < end; i++) {
            uint8_t row = (uint8_t)(one->postings[i] >> 8);
            if (!w->matched[row] && n >= optional) w->open[w->n_open++] = row;
            w->matched[row] += one->weight * (one->postings[i] & 255);
        }
    }
    for (int n = 0; n < optional && r->terms[order[n]].column; n++)
        add_to_open(&r->terms[order[n]], window, w);
}

/* Which of all rows hold by the bound of the matched words, their merit and what their
 * leading dimensions mean. */
static void bound_rows(const run *r, int64_t window, float least, work *w, int has_products)
{
    const uint32_t first = (uint32_t)window * WINDOW;
    const uint16_t *restrict merit = r->in->merit + first;
    const uint16_t *restrict reciprocal = r->in->reciprocal + first;
    const uint8_t *restrict tail = r->in->tail + first;
    const int32_t *restrict products = w->products;
    const uint32_t *restrict matched = w->matched;
    const float slope = r->lexical_gain * r->lexical_slope, limit = w->cosine;
    const float cosine_slope = r->cosine_slope, tail_limit = r->tail_limit;
    const float gain = r->cosine_gain, weight = (float)r->asked->weights[0];
    const float most = r->lexical_gain * FULL;
    const float floor = (float)r->asked->floor, slack = r->growth + SLACK;
    const float alone = (float)r->asked->meaning_only_min;
    int32_t holds[WINDOW];
    float near[WINDOW];
    if (r->asked->located)
        for (int i = 0; i < WINDOW; i++) near[i] = r->near[r->in->cell[first + i]] + slack;
    else /* all are equally near: cells need not be read */
        for (int i = 0; i < WINDOW; i++) near[i] = r->near[0] + slack;
    for (int i = 0; i < WINDOW; i++) {
        float cosine = limit;
        if (has_products) {
            cosine = (float)products[i] * (float)reciprocal[i] * cosine_slope +
                     tail_limit * (float)tail[i] + 1;
            cosine = cosine < 0 ? 0 : cosine;
            cosine = cosine < limit ? cosine : limit;
        }
        float lexical = slope * (float)(int32_t)matched[i];
        lexical = lexical < most ? lexical : most;
        float relevance = lexical + gain * cosine + 1;
        relevance = relevance < (float)FULL ? relevance : (float)FULL;
        float bound = weight * relevance + (float)MERIT_UNIT * (float)merit[i] + near[i];
        int says = (matched[i] > 0) | (cosine >= alone);
        holds[i] = says & (relevance >= floor) & (bound >= least);
    }
    for (int i = 0; i < WINDOW; i++) w->holds[i] = (uint8_t)holds[i];
}

static void open_holding(const run *r, int64_t window, work *w)
{
    int64_t left = r->in->rows - window * WINDOW;
    int count = (int)least_of(WINDOW, left), open = 0;
    if (count < WINDOW) memset(w->holds + count, 0, (size_t)(WINDOW - count));
    for (int i = 0; i < WINDOW; i += 8) {
        uint64_t eight;
        memcpy(&eight, w->holds + i, sizeof eight);
        if (!eight) continue; /* as it is for most */
        for (int j = i; j < i + 8; j++) {
            w->open[open] = (uint8_t)j;
            open += w->holds[j];
        }
    }
    w->n_open = open;
}

/* Whether the row, by a bound of its relevance, may be eligible and reach the score. */
static int may_stand(const run *r, uint32_t row, float relevance, float least)
{
    const query *q = r->asked;
    float bound = (float)q->weights[0] * relevance + (float)MERIT_UNIT * r->in->merit[row] +
                  r->near[r->in->cell[row]] + r->growth + SLACK;
    return relevance >= (float)q->floor && bound >= least;
}

/* Keeps of the open rows those that live, pass, and hold by their words and merit. */
static void keep_open(const run *r, int64_t window, float least, work *w)
{
    const uint32_t first = (uint32_t)window * WINDOW;
    int kept = 0;
    for (int i = 0; i < w->n_open; i++) {
        uint8_t at = w->open[i];
        float lexical = (float)w->matched[at] * r->lexical_slope;
        w->open[kept] = at;
        kept += r->in->alive[first + at] && w->passed[at] == r->n_filters &&
                may_stand(r, first + at, relevance_bound(r, lexical, w->cosine), least);
    }
    w->n_open = kept;
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
static int take_row(const run *r, uint32_t row, uint32_t matched, int32_t product, float limit,
                    state *s)
{
    const query *q = r->asked;
    const record *one = &r->in->records[row];
    const int32_t lexical = lexical_of(q, matched);
    float likeness = row_cosine_bound(r, row, product, limit);
    if (!matched && likeness < (float)q->meaning_only_min) return 1;
    if (!may_stand(r, row, relevance_bound(r, (float)lexical, likeness), wanted(s))) return 1;
    s->done.records++;
    product += rest_product(one->rest, &r->meant);
    const int32_t cosine = cosine_of(q, product, r->in->reciprocal[row]);
    const int32_t relevance = relevance_of(q, lexical, cosine);
    if (!is_eligible(q, relevance, matched, cosine)) return 1;
    if (!may_stand(r, row, (float)relevance, wanted(s))) return 1;
    const int tier = (one->flags & HIGHER_TIER) != 0;
    const int64_t score = (int64_t)q->weights[0] * relevance + standing_apart(q, one);
    candidate taken = {2 * score - tier, 0, s->number, row};
    if (one->flags & GROUPED) taken.leader = leader_of(r->in, row);
    if (taken.standing > s->after) return !taken.leader || add(&s->shown, &taken);
    return add(&s->found, &taken);
}

static int take_open(const run *r, int64_t window, const work *w, int has_products, state *s)
{
    const uint32_t first = (uint32_t)window * WINDOW;
    for (int i = 0; i < w->n_open; i++) {
        __builtin_prefetch(&r->in->records[first + w->open[i]]);
        if (!has_products) __builtin_prefetch(r->in->lead + (int64_t)(first + w->open[i]) * LEAD_BYTES);
    }
    for (int i = 0; i < w->n_open; i++) {
        uint8_t at = w->open[i];
        int32_t product = has_products
                              ? w->products[at]
                              : lead_product(r->in->lead + (int64_t)(first + at) * LEAD_BYTES, &r->meant);
        if (!take_row(r, first + at, w->matched[at], product, w->cosine, s)) return 0;
    }
    return 1;
}

static int search_all_rows(const run *r, int64_t window, work *w, state *s)
{
    for (int32_t t = 0; t < r->n_terms; t++) add_term(&r->terms[t], window, w);
    s->done.rows += WINDOW;
    bound_rows(r, window, wanted(s), w, 0);
    open_holding(r, window, w);
    int many = w->n_open > WINDOW / 8;
    if (many) {
        lead_products(r->in->lead + window * WINDOW * LEAD_BYTES, &r->meant, w->products);
        bound_rows(r, window, wanted(s), w, 1);
        open_holding(r, window, w);
    }
    keep_open(r, window, wanted(s), w);
    return take_open(r, window, w, many, s);
}

/* The filter that fewest rows of the window pass, if they are few; else NULL. */
static const part *narrow_filter(const run *r, int64_t window)
{
    const part *narrowest = NULL;
    uint32_t fewest = WINDOW / 4;
    for (int32_t f = 0; f < r->n_filters; f++) {
        uint32_t own = postings_in(&r->filters[f], window);
        if (own > fewest) continue;
        fewest = own;
        narrowest = &r->filters[f];
    }
    return narrowest;
}

static int search_passing(const run *r, int64_t window, const part *filter, work *w, state *s)
{
    uint32_t start = filter->blocks[window], end = filter->blocks[window + 1];
    w->n_open = 0;
    for (uint32_t i = start; i < end; i++) w->open[w->n_open++] = (uint8_t)(filter->postings[i] >> 8);
    for (int32_t t = 0; t < r->n_terms; t++) {
        if (r->terms[t].column) add_to_open(&r->terms[t], window, w);
        else add_block(&r->terms[t], window, w);
    }
    s->done.rows += w->n_open;
    keep_open(r, window, wanted(s), w);
    return take_open(r, window, w, 0, s);
}

static int search_window(const run *r, int64_t window, float bound, state *s)
{
    const query *q = r->asked;
    const float least = wanted(s);
    work w;
    int order[MAX_TERMS];
    float peak = 0;
    for (int32_t t = 0; t < r->n_terms; t++)
        peak += (float)r->terms[t].weight * r->terms[t].peaks[window];
    w.cosine = cosine_bound(r, window);
    float lexical = peak * r->lexical_slope, weight = (float)q->weights[0];
    w.others = bound - weight * relevance_bound(r, lexical, r->cosine_most);
    float relevance = relevance_bound(r, lexical, w.cosine);
    if (relevance < (float)q->floor || weight * relevance + w.others < least) return 1;
    const int optional = optional_terms(r, window, &w, least, order);
    s->done.windows++;
    memset(w.matched, 0, sizeof w.matched);
    pass_filters(r, window, &w);
    const part *narrow = narrow_filter(r, window);
    if (narrow) return search_passing(r, window, narrow, &w, s);
    if (optional < 0 || (optional < r->n_terms && r->terms[order[optional]].column))
        return search_all_rows(r, window, &w, s);
    open_matching(r, window, order, optional, &w);
    s->done.rows += w.n_open;
    keep_open(r, window, least, &w);
    return take_open(r, window, &w, 0, s);
}

#endif
