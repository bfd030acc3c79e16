/* Which rows are eligible, whatever they score. */
#ifndef ELIGIBLE_H
#define ELIGIBLE_H

#include "window.h"

/* What each row of a window says, exactly. */
static void add_matched(const part *one, int64_t window, uint32_t *restrict matched)
{
    const uint32_t weight = one->weight;
    if (one->column) {
        const uint8_t *restrict column = one->column + window * WINDOW;
        for (int i = 0; i < WINDOW; i++) matched[i] += weight * column[i];
        return;
    }
    for (uint32_t i = one->blocks[window]; i < one->blocks[window + 1]; i++)
        matched[(one->postings[i] >> 8) % WINDOW] += weight * (one->postings[i] & 255);
}

static void find_eligible(const run *r, int64_t window, uint8_t *eligible)
{
    const query *q = r->asked;
    const int64_t first = window * WINDOW;
    const int count = (int)least_of(WINDOW, r->in->rows - first);
    uint32_t matched[WINDOW] = {0};
    uint8_t passed[WINDOW];
    for (int32_t t = 0; t < r->n_terms; t++) add_matched(&r->terms[t], window, matched);
    pass_filters(r, window, passed);
    for (int i = 0; i < count; i++) {
        const sketch *one = &r->in->sketches[first + i];
        if (!r->in->alive[first + i] || passed[i] != r->n_filters) continue;
        int32_t product = lead_product(one, &r->meant) + rest_product(&r->in->records[first + i], &r->meant);
        int32_t cosine = cosine_of(q, product, one->reciprocal);
        int32_t relevance = relevance_of(q, lexical_of(q, matched[i]), cosine);
        eligible[first + i] = (uint8_t)is_eligible(q, relevance, matched[i], cosine);
    }
}

#endif
