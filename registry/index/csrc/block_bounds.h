/* What the rows of each block may score, for all blocks at once and before any is looked at. */
#ifndef BLOCK_BOUNDS_H
#define BLOCK_BOUNDS_H

#include "nearby_rows.h"

enum { BUCKETS = 512, FIRST_BLOCKS = 48 };
static const float NONE = -1.0e9f; /* of a score: whatever is added, it is below 0 */

/* An entry a block, but of whole, beyond, turned and facing, which have one an axis. towards,
 * facing: the cosine of the request with the axis. aspects, turned: what it tells. whole,
 * beyond: see `multiply_axes`. peak: what the words of the request weigh at most. bounds: of what a row
 * scores that is not near; below 0 where none can be eligible, or all have been looked at.
 * near: of all rows. likely: what the best may score. order: blocks to be looked at, at
 * first the likeliest, best first; count: of these. */
typedef struct {
    aspect *aspects, *turned;
    float *towards, *facing, *peak, *bounds, *near, *likely;
    int32_t *whole, *beyond, *order;
    uint16_t *buckets;
    int64_t count;
} block_bounds;

static size_t block_bounds_bytes(const segment *in)
{
    const size_t of_axis = sizeof(aspect) + sizeof(float) + 2 * sizeof(int32_t);
    const size_t of_block = sizeof(aspect) + 5 * sizeof(float) + sizeof(int32_t) + sizeof(uint16_t);
    return ((size_t)in->blocks + 1) * (of_axis + of_block);
}

/* 0 where there is no room. */
static int lay_out(block_bounds *p, run *r)
{
    const size_t room = (size_t)r->in->blocks + 1;
    p->aspects = take(&r->left, block_bounds_bytes(r->in));
    if (!p->aspects) return 0;
    p->turned = p->aspects + room;
    p->towards = (float *)(p->turned + room);
    p->facing = p->towards + room;
    p->peak = p->facing + room;
    p->bounds = p->peak + room;
    p->near = p->bounds + room;
    p->likely = p->near + room;
    p->whole = (int32_t *)(p->likely + room);
    p->beyond = p->whole + room;
    p->order = p->beyond + room;
    p->buckets = (uint16_t *)(p->order + room);
    return 1;
}

FOR_EACH_MACHINE
static void add_block_max(float weight, const uint8_t *restrict block_max, int64_t blocks, float *restrict sums)
{
    for (int64_t w = 0; w < blocks; w++) sums[w] += weight * (float)block_max[w];
}

FOR_EACH_MACHINE
static void set_aspects(const run *r, const int32_t *restrict whole,
                        const int32_t *restrict beyond, float *restrict towards,
                        aspect *restrict out)
{
    const int64_t axes = r->in->n_axes;
    const float *restrict lengths = r->in->axis_lengths, *restrict beyond_lead = lengths + axes;
    const float unit = r->meaning_slope * 65536, length = r->length > 0 ? r->length : 1;
    const float rest = r->rest_length;
    for (int64_t i = 0; i < axes; i++) {
        const float along = (float)beyond[i] / (beyond_lead[i] > 0 ? beyond_lead[i] : 1);
        const float across = root_of(rest * rest - along * along);
        const float half = fabsf(along) / (2 * ALONG_UNIT);
        const float of_axis = lengths[i] > 0 ? lengths[i] : 1;
        towards[i] = within_one((float)whole[i] / (of_axis * length));
        out[i].along = unit * along / ALONG_UNIT;
        out[i].across = unit * across / ACROSS_UNIT * MORE;
        out[i].more = unit * (half + rest * 0.0015f) * MORE + 1;
    }
}

/* By how far the request is from the block's axis, and its embeddings at least and at
 * most: cos(a - b) = cos a cos b + sin a sin b. */
static inline float cosine_bound(float towards, float least, float greatest, float limit)
{
    float nearest = towards > greatest ? greatest : towards;
    nearest = nearest < least ? least : nearest;
    float across = root_of((1 - towards * towards) * (1 - nearest * nearest));
    float cosine = towards * nearest + across + 0.001f;
    cosine = cosine * limit + 1;
    cosine = cosine > 0 ? cosine : 0;
    return cosine < FULL ? cosine : FULL;
}

/* About what an embedding means that is nearest to its axis. */
static inline float likely_cosine(float towards, float greatest, float limit, float most)
{
    float cosine = towards * greatest * limit;
    cosine = cosine < most ? cosine : most;
    return cosine > 0 ? cosine : 0;
}

FOR_EACH_MACHINE
static void bound_blocks(const run *r, int64_t blocks, const float *restrict towards,
                          const float *restrict peak, float *restrict bounds, float *restrict near,
                          float *restrict likely)
{
    const segment *in = r->in;
    const float *restrict least = in->block_spread, *restrict greatest = least + blocks;
    const uint8_t *restrict flags = in->block_flags;
    const uint16_t *restrict merits = in->block_merit, *restrict best = r->near.best;
    const float weight = (float)r->request->weights[0], slope = r->lexical_slope;
    const float by_words = r->lexical_gain, by_meaning = r->cosine_gain;
    const float limit = r->cosine_limit, most = r->cosine_most;
    const float floor = (float)r->request->floor, alone = (float)r->request->meaning_only_min;
    const float with_words = (float)r->request->meaning_min;
    const int32_t neutral = r->near.neutral, far = r->near.far;
    for (int64_t w = 0; w < blocks; w++) {
        float cosine = cosine_bound(towards[w], least[w], greatest[w], limit);
        const float hoped = likely_cosine(towards[w], greatest[w], limit, most);
        float lexical = peak[w] * slope;
        lexical = by_words * (lexical < FULL ? lexical : FULL) + 1;
        float relevance = lexical + by_meaning * cosine;
        relevance = relevance < FULL ? relevance : FULL;
        float likeliest = lexical + by_meaning * hoped;
        likeliest = likeliest < FULL ? likeliest : FULL;
        const float merit = (float)MERIT_UNIT * (float)merits[w];
        const int32_t of_locals = flags[w] & HAS_LOCAL ? far : 0;
        const int32_t of_rest = flags[w] & HAS_OTHER ? neutral : 0;
        const int32_t others = of_locals > of_rest ? of_locals : of_rest;
        const int32_t nearest = best[w] > others ? best[w] : others;
        const float score = weight * relevance + merit + SLACK;
        const int holds = (relevance >= floor) & (((peak[w] > 0) & (cosine >= with_words)) | (cosine >= alone));
        const float held = holds ? score : NONE;
        bounds[w] = held + (float)others * UNIT;
        near[w] = held + (float)nearest * UNIT;
        likely[w] = weight * likeliest + merit;
    }
}

/* No row of these blocks passes. */
static void rule_out(const part *filter, int64_t blocks, float *restrict bounds, float *restrict near)
{
    for (int64_t w = 0; w < blocks; w++)
        if (!filter->block_max || !filter->block_max[w]) bounds[w] = near[w] = -1;
}

/* Of each axis, then of each block. */
static void take_bearings(const run *r, block_bounds *p)
{
    const segment *in = r->in;
    multiply_axes(in->axes, in->n_axes, r->vector, r->rest, p->whole, p->beyond);
    set_aspects(r, p->whole, p->beyond, p->facing, p->turned);
    for (int64_t w = 0; w < in->blocks; w++) {
        p->aspects[w] = p->turned[in->axis_of[w]];
        p->towards[w] = p->facing[in->axis_of[w]];
    }
}

static void look_ahead(const run *r, block_bounds *p)
{
    const int64_t blocks = r->in->blocks;
    memset(p->peak, 0, (size_t)blocks * sizeof *p->peak);
    for (int32_t t = 0; t < r->n_terms; t++)
        add_block_max((float)r->terms[t].weight, r->terms[t].block_max, blocks, p->peak);
    take_bearings(r, p);
    bound_blocks(r, blocks, p->towards, p->peak, p->bounds, p->near, p->likely);
    for (int32_t f = 0; f < r->n_filters; f++)
        rule_out(&r->filters[f], blocks, p->bounds, p->near);
}

/* By how likely they are, the best in the first; BUCKETS where nothing can be eligible. */
FOR_EACH_MACHINE
static void put_into_buckets(int64_t blocks, const float *restrict near, const float *restrict likely,
                             uint16_t *restrict buckets)
{
    for (int64_t w = 0; w < blocks; w++) {
        int bucket = (int)(likely[w] * (BUCKETS / 1.0e8f));
        bucket = BUCKETS - 1 - (bucket < BUCKETS ? bucket : BUCKETS - 1);
        buckets[w] = (uint16_t)(near[w] < 0 ? BUCKETS : bucket);
    }
}

/* About the likeliest first: by buckets, of which as many are taken as are needed. */
static void order_blocks(block_bounds *p, int64_t blocks)
{
    int32_t starts[BUCKETS + 2] = {0}, last = 0;
    put_into_buckets(blocks, p->near, p->likely, p->buckets);
    for (int64_t w = 0; w < blocks; w++) starts[p->buckets[w] + 1]++;
    for (; last < BUCKETS && starts[last] < FIRST_BLOCKS; last++) starts[last + 1] += starts[last];
    p->count = starts[last];
    for (int64_t w = 0; w < blocks; w++)
        if (p->buckets[w] < last) p->order[starts[p->buckets[w]]++] = (int32_t)w;
    p->count = least_of(p->count, FIRST_BLOCKS);
}

#endif
