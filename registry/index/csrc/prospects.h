/* What the rows of each window may score, for all windows at once and before any is looked at. */
#ifndef PROSPECTS_H
#define PROSPECTS_H

#include "vicinity.h"

enum { BUCKETS = 512 };

/* An entry a window. whole, beyond: see `axis_products`. peak: what the words of the
 * request weigh at most. bounds: of what a row scores that is not near; -1 where none can
 * be eligible, or all have been looked at. near: of all rows. likely: what the best may
 * score. order: of those that can hold an eligible row, the likeliest first; count: of these. */
typedef struct {
    aspect *aspects;
    float *peak, *bounds, *near, *likely;
    int32_t *whole, *beyond, *order;
    int64_t count;
} prospects;

static int make_room(prospects *p, int64_t windows)
{
    const size_t room = (size_t)windows + 1;
    p->aspects = malloc(room * (sizeof(aspect) + 4 * sizeof(float) + 3 * sizeof(int32_t)));
    if (!p->aspects) return 0;
    p->peak = (float *)(p->aspects + room);
    p->bounds = p->peak + room;
    p->near = p->bounds + room;
    p->likely = p->near + room;
    p->whole = (int32_t *)(p->likely + room);
    p->beyond = p->whole + room;
    p->order = p->beyond + room;
    return 1;
}

FOR_EACH_MACHINE
static void add_peaks(float weight, const uint8_t *restrict peaks, int64_t windows, float *restrict sums)
{
    for (int64_t w = 0; w < windows; w++) sums[w] += weight * (float)peaks[w];
}

FOR_EACH_MACHINE
static void set_aspects(const run *r, int64_t windows, const int32_t *restrict whole,
                        const int32_t *restrict beyond, aspect *restrict out)
{
    const float *restrict spread = r->in->window_spread;
    const float unit = r->meaning_slope * 65536, length = r->length > 0 ? r->length : 1;
    const float rest = r->rest_length;
    for (int64_t w = 0; w < windows; w++) {
        const float along = (float)beyond[w] / (spread[4 * w + 1] > 0 ? spread[4 * w + 1] : 1);
        const float across = root_of(rest * rest - along * along);
        const float half = fabsf(along) / (2 * ALONG_UNIT);
        const float of_axis = spread[4 * w] > 0 ? spread[4 * w] : 1;
        out[w].towards = within_one((float)whole[w] / (of_axis * length));
        out[w].along = unit * along / ALONG_UNIT;
        out[w].across = unit * across / ACROSS_UNIT * MORE;
        out[w].more = unit * (half + rest * 0.0015f) * MORE + 1;
    }
}

/* By how far the request is from the window's axis, and its embeddings at least and at
 * most: cos(a - b) = cos a cos b + sin a sin b. */
static inline float cosine_bound(float towards, const float *spread, float limit, float most)
{
    float nearest = towards > spread[3] ? spread[3] : towards;
    nearest = nearest < spread[2] ? spread[2] : nearest;
    float across = root_of((1 - towards * towards) * (1 - nearest * nearest));
    float cosine = towards * nearest + across + 0.001f;
    cosine = cosine < 0 ? 0 : cosine * limit + 1;
    cosine = cosine < FULL ? cosine : FULL;
    return spread[0] > 0 ? cosine : most;
}

/* About what an embedding means that is nearest to its axis. */
static inline float likely_cosine(float towards, const float *spread, float limit, float most)
{
    float cosine = towards * spread[3] * limit;
    cosine = cosine < most ? cosine : most;
    return cosine > 0 ? cosine : 0;
}

FOR_EACH_MACHINE
static void bound_windows(const run *r, int64_t windows, const aspect *restrict aspects,
                          const float *restrict peak, float *restrict bounds, float *restrict near,
                          float *restrict likely)
{
    const segment *in = r->in;
    const float *restrict spread = in->window_spread;
    const uint8_t *restrict flags = in->window_flags;
    const uint16_t *restrict merits = in->window_merit, *restrict best = r->near.best;
    const float weight = (float)r->asked->weights[0], slope = r->lexical_slope;
    const float by_words = r->lexical_gain, by_meaning = r->cosine_gain;
    const float limit = r->cosine_limit, most = r->cosine_most;
    const float floor = (float)r->asked->floor, alone = (float)r->asked->meaning_only_min;
    const int32_t neutral = r->near.neutral, far = r->near.far, either = far > neutral ? far : neutral;
    for (int64_t w = 0; w < windows; w++) {
        const float towards = aspects[w].towards;
        const float cosine = cosine_bound(towards, spread + 4 * w, limit, most);
        const float hoped = likely_cosine(towards, spread + 4 * w, limit, most);
        float lexical = peak[w] * slope;
        lexical = by_words * (lexical < FULL ? lexical : FULL) + 1;
        float relevance = lexical + by_meaning * cosine;
        relevance = relevance < FULL ? relevance : FULL;
        float likeliest = lexical + by_meaning * hoped;
        likeliest = likeliest < FULL ? likeliest : FULL;
        const float merit = (float)MERIT_UNIT * (float)merits[w];
        const int32_t locals = flags[w] & HAS_OTHER ? either : far;
        const int32_t others = flags[w] & HAS_LOCAL ? locals : neutral;
        const int32_t nearest = best[w] > others ? best[w] : others;
        const float score = weight * relevance + merit + SLACK;
        const int holds = (relevance >= floor) & ((peak[w] > 0) | (cosine >= alone));
        bounds[w] = holds ? score + (float)others * UNIT : -1;
        near[w] = holds ? score + (float)nearest * UNIT : -1;
        likely[w] = weight * likeliest + merit;
    }
}

/* No row of these windows passes. */
static void rule_out(const part *filter, int64_t windows, float *restrict bounds, float *restrict near)
{
    for (int64_t w = 0; w < windows; w++)
        if (!filter->peaks || !filter->peaks[w]) bounds[w] = near[w] = -1;
}

static void look_ahead(const run *r, prospects *p)
{
    const int64_t windows = r->in->windows;
    memset(p->peak, 0, (size_t)windows * sizeof *p->peak);
    for (int32_t t = 0; t < r->n_terms; t++)
        add_peaks((float)r->terms[t].weight, r->terms[t].peaks, windows, p->peak);
    multiply_axes(r->in->window_axis, windows, r->vector, r->rest, p->whole, p->beyond);
    set_aspects(r, windows, p->whole, p->beyond, p->aspects);
    bound_windows(r, windows, p->aspects, p->peak, p->bounds, p->near, p->likely);
    for (int32_t f = 0; f < r->n_filters; f++)
        rule_out(&r->filters[f], windows, p->bounds, p->near);
}

static int bucket_of(float likely)
{
    int bucket = (int)(likely * (BUCKETS / 1.0e8f));
    return BUCKETS - 1 - (bucket < BUCKETS ? bucket : BUCKETS - 1);
}

/* About the likeliest first: by buckets. */
static void order_windows(prospects *p, int64_t windows)
{
    int32_t starts[BUCKETS + 1] = {0};
    for (int64_t w = 0; w < windows; w++)
        if (p->near[w] >= 0) starts[bucket_of(p->likely[w]) + 1]++;
    for (int b = 0; b < BUCKETS; b++) starts[b + 1] += starts[b];
    p->count = starts[BUCKETS];
    for (int64_t w = 0; w < windows; w++)
        if (p->near[w] >= 0) p->order[starts[bucket_of(p->likely[w])]++] = (int32_t)w;
}

#endif
