/* Which rows are eligible, whatever they score. */
#ifndef ELIGIBLE_H
#define ELIGIBLE_H

#include "window.h"

/* Of each row of a window. */
typedef struct {
    uint32_t matched[WINDOW];
    int32_t product[WINDOW];
    uint16_t reciprocal[WINDOW];
    uint8_t passed[WINDOW];
} reading;

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

static void multiply(const run *r, int64_t first, int count, reading *in)
{
    for (int i = 0; i < count; i++) {
        const sketch *one = &r->in->sketches[first + i];
        in->product[i] = lead_product(one, &r->meant) + rest_product(&r->in->records[first + i], &r->meant);
        in->reciprocal[i] = one->reciprocal;
    }
}

/* As `is_eligible` of each row, without a branch and without its relevance at full length. */
static void judge(const run *r, int64_t first, int count, const reading *in, uint8_t *restrict eligible)
{
    const query *q = r->asked;
    const uint32_t share = (uint32_t)q->lexical_share, rest = FULL - share;
    const uint32_t least = (uint32_t)q->floor * (uint32_t)q->full_relevance;
    for (int i = 0; i < count; i++) {
        const int32_t product = in->product[i] > 0 ? in->product[i] : 0;
        const int32_t cosine = cosine_of(q, product, in->reciprocal[i]);
        const uint32_t lexical = (uint32_t)lexical_of(q, in->matched[i]);
        const int reaches = share * lexical + rest * (uint32_t)cosine >= least;
        const int counts = (in->matched[i] > 0) | (cosine >= q->meaning_only_min);
        const int passes = (in->passed[i] == r->n_filters) & (r->in->alive[first + i] != 0);
        eligible[first + i] = (uint8_t)(reaches & counts & passes);
    }
}

static void find_eligible(const run *r, int64_t window, uint8_t *eligible)
{
    const int64_t first = window * WINDOW;
    const int count = (int)least_of(WINDOW, r->in->rows - first);
    reading in;
    memset(in.matched, 0, sizeof in.matched);
    for (int32_t t = 0; t < r->n_terms; t++) add_matched(&r->terms[t], window, in.matched);
    pass_filters(r, window, in.passed);
    multiply(r, first, count, &in);
    judge(r, first, count, &in, eligible);
}

#endif
