/* All rows of a block at once, by upper bounds in 16-bit whole numbers: what they say,
 * how far they are from the block's axis, and their merit. Units of UNIT of the score,
 * each part rounded up, so that nothing is lost but work. */
#ifndef ROW_BOUNDS_H
#define ROW_BOUNDS_H

#include "bounds.h"

enum { GAIN_MOST = 16000 };

/* Of a request. gain: of a cosine of 1; 0 where it is too large to be computed with. All
 * but floor are rounded up. */
typedef struct {
    float gain;
    uint16_t floor, lexical_most, cosine_most, relevance_most;
} row_limits;

/* Of a block. along, across: what a unit of a row's columns adds, times 256. rounding: what
 * that may lose. merit: the best of its rows. wanted: of the score, rounded down. */
typedef struct {
    int16_t along, rounding;
    uint16_t across, merit, wanted;
} block_limits;

static uint16_t units(float score)
{
    float whole = score / UNIT;
    return (uint16_t)(whole < 0 ? 0 : whole > 65534 ? 65534 : whole);
}

/* An impact adds step * impact / 256, rounded down, and base. */
static void set_step(const run *r, part *term, float most)
{
    float weight = (float)r->request->weights[0] * r->lexical_gain * r->lexical_slope;
    float step = weight * (float)term->weight * 256 / UNIT * MORE + 1;
    term->step = (uint16_t)(step < 65535 ? step : 0);
    term->base = (uint16_t)(step < 65535 ? 1 : units(most) + 1);
}

/* What words score at most that weigh so much together. */
static uint16_t peak_units(const run *r, float peak)
{
    float lexical = peak * r->lexical_slope;
    lexical = (lexical < FULL ? lexical : FULL) * r->lexical_gain * (float)r->request->weights[0];
    return (uint16_t)(peak > 0 ? units(lexical) + 1 : 0);
}

static row_limits row_limits_of(run *r)
{
    const query *q = r->request;
    float weight = (float)q->weights[0], most = weight * FULL;
    float lexical = weight * r->lexical_gain * FULL, meaning = weight * r->cosine_gain;
    float gain = meaning * r->cosine_limit / UNIT;
    lexical = lexical < most ? lexical : most;
    for (int32_t t = 0; t < r->n_terms; t++) set_step(r, &r->terms[t], lexical);
    float cosine = meaning * r->cosine_most < most ? meaning * r->cosine_most : most;
    row_limits s = {gain <= GAIN_MOST ? gain : 0,
               units(weight * ((float)q->floor - 1)),
               (uint16_t)(units(lexical) + 1),
               (uint16_t)(units(cosine) + 2),
               (uint16_t)(units(most) + 2)};
    return s;
}

static block_limits block_limits_of(const row_limits *s, float towards, uint16_t block_merit, float least)
{
    block_limits m = {0, (int16_t)s->cosine_most, 0, 0, units(least)};
    m.merit = (uint16_t)(block_merit / (UNIT / MERIT_UNIT) + 1);
    if (s->gain <= 0) return m;
    float across = root_of(1 - towards * towards);
    m.along = (int16_t)rintf(s->gain * towards * 256 / ALONG_UNIT);
    m.across = (uint16_t)(s->gain * across * 256 / ACROSS_UNIT * MORE + 1);
    m.rounding = (int16_t)(s->gain * (fabsf(towards) / (2 * ALONG_UNIT) + 0.001f) + 4);
    return m;
}

/* As `add_block` in `block.h`, of a dense term. */
FOR_EACH_MACHINE
static void add_column(uint16_t *restrict lexical, const uint8_t *restrict column, uint16_t step,
                       uint16_t base, uint16_t most)
{
    for (int i = 0; i < BLOCK_ROWS; i++) {
        uint16_t impact = (uint16_t)(column[i] << 8);
        uint16_t own = (uint16_t)(((uint32_t)impact * step) >> 16);
        own = own < most ? own : most;
        own = (uint16_t)(own + (impact ? base : 0));
        uint16_t sum = (uint16_t)(lexical[i] + own);
        lexical[i] = sum < most ? sum : most;
    }
}

/* What each row scores at most; 0 for those that are not relevant, or score less than is
 * wanted. apart: what proximity scores at most; then what all but relevance does. Written
 * without a branch, so that it is done for many rows at once. */
FOR_EACH_MACHINE
static void filter_rows(const row_limits *s, const block_limits *m, const uint16_t *restrict lexical,
                 const int8_t *restrict along, const uint8_t *restrict across,
                 const uint8_t *restrict behind, uint16_t *restrict apart,
                 uint16_t *restrict bounds)
{
    const int16_t along_gain = m->along, rounding = m->rounding;
    const uint16_t across_gain = m->across, wanted = m->wanted, floor = s->floor;
    const uint16_t cosine_most = s->cosine_most, most = s->relevance_most, merit = m->merit;
    for (int i = 0; i < BLOCK_ROWS; i++) {
        int16_t by_axis = (int16_t)(((int32_t)(int16_t)(along[i] * 256) * along_gain) >> 16);
        uint16_t off_axis = (uint16_t)(((uint32_t)(uint16_t)(across[i] << 8) * across_gain) >> 16);
        int16_t reached = (int16_t)(by_axis + (int16_t)off_axis + rounding);
        uint16_t cosine = (uint16_t)(reached > 0 ? reached : 0);
        cosine = cosine < cosine_most ? cosine : cosine_most;
        uint16_t relevance = (uint16_t)(lexical[i] + cosine + 1);
        relevance = relevance < most ? relevance : most;
        apart[i] = (uint16_t)(apart[i] + merit - behind[i] * (BEHIND_UNIT / UNIT));
        uint16_t bound = (uint16_t)(relevance + apart[i]);
        uint16_t holds = (uint16_t)-((relevance >= floor) & (bound >= wanted));
        bounds[i] = bound & holds;
    }
}

#endif
