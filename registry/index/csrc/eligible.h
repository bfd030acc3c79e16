/* Which rows are eligible, whatever they score. */
#ifndef ELIGIBLE_H
#define ELIGIBLE_H

#include "block.h"

/* Of each row of a block. reaches: by its words and its meaning. */
typedef struct {
    int32_t matched[BLOCK_ROWS], product[BLOCK_ROWS], reciprocal[BLOCK_ROWS], reaches[BLOCK_ROWS];
    uint8_t passed[BLOCK_ROWS];
} reading;

FOR_EACH_MACHINE
static void add_matched_column(int32_t weight, const uint8_t *restrict column,
                               int32_t *restrict matched)
{
    for (int i = 0; i < BLOCK_ROWS; i++) matched[i] += weight * column[i];
}

/* What each row of a block says, exactly. */
static void add_matched(const part *term, int64_t block, int32_t *matched)
{
    const int32_t weight = (int32_t)term->weight;
    if (!term->block_max[block]) return;
    if (term->column) {
        add_matched_column(weight, term->column + block * BLOCK_ROWS, matched);
        return;
    }
    for (uint32_t i = term->block_starts[block]; i < term->block_starts[block + 1]; i++)
        matched[(term->postings[i] >> 8) % BLOCK_ROWS] += weight * (int32_t)(term->postings[i] & 255);
}

/* A number times one of 2^-32, rounded down, at most FULL. Exact: a product below 2^53 is,
 * and what is beyond is more than FULL. */
static inline int32_t scaled(double number, double multiplier)
{
    const double beyond = 1 << 30, product = number * (multiplier / 4294967296.0);
    const int32_t whole = (int32_t)(product < beyond ? product : beyond);
    return whole < FULL ? whole : FULL;
}

/* As `is_eligible` of each row that passes, without a branch and without its relevance at
 * full length. */
FOR_EACH_MACHINE
static void judge(const query *q, const sketch *restrict sketches, int count, reading *restrict in)
{
    const int32_t share = q->lexical_share, rest = FULL - share;
    const int32_t least = q->floor * q->full_relevance, with_words = q->meaning_min;
    const int32_t alone = q->meaning_only_min;
    const double by_words = (double)q->lexical_multiplier, by_meaning = (double)q->meaning_multiplier;
    for (int i = 0; i < count; i++) in->reciprocal[i] = sketches[i].reciprocal;
    for (int i = 0; i < count; i++) {
        const int32_t product = in->product[i] > 0 ? in->product[i] : 0;
        const int32_t cosine = scaled((double)product * in->reciprocal[i], by_meaning);
        const int32_t lexical = scaled(in->matched[i], by_words);
        in->reaches[i] = (share * lexical + rest * cosine >= least) &
                         (cosine >= (in->matched[i] > 0 ? with_words : alone));
    }
}

FOR_EACH_MACHINE
static void mark(const reading *restrict in, const uint8_t *restrict alive, uint8_t filters, int count,
                 uint8_t *restrict eligible)
{
    for (int i = 0; i < count; i++)
        eligible[i] = (uint8_t)(in->reaches[i] & (in->passed[i] == filters) & (alive[i] != 0));
}

FOR_EACH_MACHINE
static void multiply_rows(const sketch *leads, const record *rests, int count, const meaning *m,
                          int32_t *products)
{
    for (int row = 0; row < count; row++)
        products[row] = lead_product(&leads[row], m) + rest_product(&rests[row], m);
}

static void find_eligible(const run *r, int64_t block, uint8_t *eligible)
{
    const int64_t first = block * BLOCK_ROWS;
    const segment *in = r->in;
    const int count = (int)least_of(BLOCK_ROWS, in->rows - first);
    reading own;
    memset(own.matched, 0, sizeof own.matched);
    for (int32_t t = 0; t < r->n_terms; t++) add_matched(&r->terms[t], block, own.matched);
    pass_filters(r, block, own.passed);
    multiply_rows(in->sketches + first, in->records + first, count, &r->meant, own.product);
    judge(r->request, in->sketches + first, count, &own);
    mark(&own, in->alive + first, (uint8_t)r->n_filters, count, eligible + first);
}

#endif
