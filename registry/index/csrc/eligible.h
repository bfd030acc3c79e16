/* Which rows are eligible, whatever they score. */
#ifndef ELIGIBLE_H
#define ELIGIBLE_H

#include "window.h"

/* Which rows of a window may be eligible, by what they say and mean, rounded upwards. */
static void bound_eligible(const run *r, const uint16_t *restrict reciprocal, work *w)
{
    const int32_t *restrict products = w->products;
    const uint32_t *restrict matched = w->matched;
    const float slope = r->lexical_gain * r->lexical_slope, most = r->lexical_gain * FULL;
    const float cosine_slope = r->cosine_slope, limit = r->cosine_most, gain = r->cosine_gain;
    const float floor = (float)r->asked->floor, alone = (float)r->asked->meaning_only_min;
    int32_t holds[WINDOW];
    for (int i = 0; i < WINDOW; i++) {
        float cosine = (float)products[i] * (float)reciprocal[i] * cosine_slope + 1;
        cosine = cosine < 0 ? 0 : cosine;
        cosine = cosine < limit ? cosine : limit;
        float lexical = slope * (float)(int32_t)matched[i];
        lexical = lexical < most ? lexical : most;
        int says = (matched[i] > 0) | (cosine >= alone);
        holds[i] = says & (lexical + gain * cosine + 1 >= floor);
    }
    for (int i = 0; i < WINDOW; i++) w->holds[i] = (uint8_t)holds[i];
}

static void find_eligible(const run *r, int64_t window, uint8_t *eligible)
{
    const query *q = r->asked;
    const int64_t first = window * WINDOW;
    const int count = (int)least_of(WINDOW, r->in->rows - first);
    const uint16_t *reciprocal = r->in->reciprocal + first;
    const record *records = r->in->records + first;
    work w;
    memset(w.matched, 0, sizeof w.matched);
    for (int32_t t = 0; t < r->n_terms; t++) add_term(&r->terms[t], window, &w);
    pass_filters(r, window, &w);
    lead_products(r->in->lead + first * LEAD_BYTES, &r->meant, w.products);
    for (int i = 0; i < count; i++) w.products[i] += rest_product(records[i].rest, &r->meant);
    bound_eligible(r, reciprocal, &w);
    for (int i = 0; i < count; i++) {
        if (!w.holds[i] || !r->in->alive[first + i] || w.passed[i] != r->n_filters) continue;
        int32_t cosine = cosine_of(q, w.products[i], reciprocal[i]);
        int32_t relevance = relevance_of(q, lexical_of(q, w.matched[i]), cosine);
        eligible[first + i] = (uint8_t)is_eligible(q, relevance, w.matched[i], cosine);
    }
}

#endif
