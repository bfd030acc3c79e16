/* Upper bounds. Only what they leave out depends on them, so they may be rounded, but
 * upwards: SLACK is far beyond what floating point loses here. */
#ifndef BOUNDS_H
#define BOUNDS_H

#include <math.h>

#include "factors.h"
#include "meaning.h"
#include "terms.h"

enum { UNIT = 4096 }; /* of a score up to 1e8, in 16-bit bounds */
static const float SLACK = 4096;
static const float EARTH_KM = 6371.0088f;
static const float MORE = 1.00001f;
static const float RECIPROCALS = 65536 + 64; /* which are rounded */

/* What a window's axis tells of a request. towards: their cosine. A row's dimensions
 * beyond the lead mean at most along * rest_along + across * rest_across + more. */
typedef struct {
    float towards, along, across, more;
} aspect;

/* A request in one segment. meaning: of one unit of length. cosine_limit: no embedding
 * reaches more; cosine_most: nor more than FULL. length, rest_length: of the vector, and
 * without its lead. growth: what merits may have gained where a page is asked for as of
 * a time before theirs. */
typedef struct {
    const segment *in;
    const query *asked;
    part terms[MAX_TERMS], filters[MAX_FILTERS];
    int32_t n_terms, n_filters;
    meaning meant;
    int16_t vector[DIMENSIONS], rest[DIMENSIONS]; /* the latter 0 in the lead */
    float lexical_slope, lexical_gain, cosine_gain, meaning_slope, cosine_limit, cosine_most;
    float length, rest_length, growth, origin[3];
    float *near; /* [cells]: what proximity scores at most, weighted */
    uint16_t *near_units; /* the same and growth, in UNIT, rounded up */
    void *scratch;
} run;

/* What a row says: impacts times weights. */
static inline uint32_t matched_by(const run *r, uint32_t row)
{
    uint32_t matched = 0;
    for (int32_t t = 0; t < r->n_terms; t++)
        matched += r->terms[t].weight * impact_of(&r->terms[t], row);
    return matched;
}

static float length_of(const int8_t *vector, int from)
{
    float sum = 0;
    for (int i = from; i < DIMENSIONS; i++) sum += (float)vector[i] * vector[i];
    return sqrtf(sum);
}

static void set_limits(run *r)
{
    const query *q = r->asked;
    for (int i = 0; i < DIMENSIONS; i++) {
        r->vector[i] = q->vector[i];
        r->rest[i] = i < LEAD ? 0 : q->vector[i];
    }
    r->meaning_slope = (float)((double)q->meaning_multiplier / 4294967296.0) * MORE;
    r->lexical_slope = (float)((double)q->lexical_multiplier / 4294967296.0) * MORE;
    r->lexical_gain = (float)q->lexical_share / q->full_relevance * MORE;
    r->cosine_gain = (float)(FULL - q->lexical_share) / q->full_relevance * MORE;
    r->length = length_of(q->vector, 0);
    r->rest_length = length_of(q->vector, LEAD);
    r->cosine_limit = r->meaning_slope * RECIPROCALS * r->length * MORE;
    r->cosine_most = r->cosine_limit < FULL ? r->cosine_limit : FULL;
    r->growth = q->now_s < r->in->as_of_s ? (float)FULL * q->weights[4] : 0;
    float from = sqrtf((float)q->origin[0] * q->origin[0] + (float)q->origin[1] * q->origin[1] +
                       (float)q->origin[2] * q->origin[2]);
    for (int i = 0; i < 3; i++) r->origin[i] = q->located ? q->origin[i] / from : 0;
}

/* lexical: not capped. cosine: at most FULL. */
static inline float relevance_bound(const run *r, float lexical, float cosine)
{
    lexical = lexical < FULL ? lexical : FULL;
    float relevance = r->lexical_gain * lexical + r->cosine_gain * cosine + 1;
    return relevance < FULL ? relevance : FULL;
}

/* ---- places ---- */

/* Within reach, in radians, of a centre. */
static float proximity_within(const run *r, const float *centre, float reach)
{
    const query *q = r->asked;
    float inner = r->origin[0] * centre[0] + r->origin[1] * centre[1] + r->origin[2] * centre[2];
    /* A chord is shorter than its arc. */
    float chord = inner < 1 ? sqrtf(2 - 2 * inner) : 0;
    float km = (chord - reach) * EARTH_KM - 12;
    int32_t last = q->near_size - 1;
    return (float)q->near[km <= 0 ? 0 : km < (float)last ? (int32_t)km : last];
}

/* Weighted. */
static float proximity_bound(const run *r, int64_t window)
{
    float weight = (float)r->asked->weights[1], neutral = (float)r->asked->neutral;
    uint8_t flags = r->in->window_flags[window];
    if (!r->asked->located || !(flags & HAS_LOCAL)) return weight * neutral;
    float best = proximity_within(r, r->in->window_centre + window * 3, r->in->window_reach[window]);
    return weight * ((flags & HAS_OTHER) && best < neutral ? neutral : best);
}

static void bound_cells(run *r)
{
    float weight = (float)r->asked->weights[1];
    for (int64_t c = 0; c < r->in->cells; c++) {
        float best = (float)r->asked->neutral;
        if (c && r->asked->located)
            best = proximity_within(r, r->in->cell_centre + c * 3, r->in->cell_reach[c]);
        r->near[c] = weight * best;
        r->near_units[c] = (uint16_t)((weight * best + r->growth) / UNIT + 3);
    }
}

/* ---- meaning ---- */

static inline float within_one(float cosine)
{
    return cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
}

static inline float root_of(float square) { return square > 0 ? sqrtf(square) : 0; }

static aspect aspect_of(const run *r, int64_t window)
{
    const float *spread = r->in->window_spread + window * 4, unit = r->meaning_slope * 65536;
    int32_t whole, rest;
    axis_products(r->in->window_axis + window * DIMENSIONS, r->vector, r->rest, &whole, &rest);
    float along = spread[1] > 0 ? (float)rest / spread[1] : 0;
    float across = root_of(r->rest_length * r->rest_length - along * along);
    float half = fabsf(along) / (2 * ALONG_UNIT);
    aspect a = {0, unit * along / ALONG_UNIT, unit * across / ACROSS_UNIT * MORE,
                unit * (half + r->rest_length * 0.0015f) * MORE + 1};
    if (spread[0] > 0 && r->length > 0)
        a.towards = within_one((float)whole / (spread[0] * r->length));
    return a;
}

/* About what an embedding means that is nearest to its axis. */
static float likely_cosine(const run *r, int64_t window, const aspect *a)
{
    float cosine = a->towards * r->in->window_spread[window * 4 + 3] * r->cosine_limit;
    return cosine < 0 ? 0 : cosine < r->cosine_most ? cosine : r->cosine_most;
}

/* By how far the request is from the window's axis, and its embeddings at least and at
 * most: cos(a - b) = cos a cos b + sin a sin b. */
static float cosine_bound(const run *r, int64_t window, float towards)
{
    const float *spread = r->in->window_spread + window * 4;
    if (spread[0] <= 0 || r->length <= 0) return r->cosine_most;
    float nearest = towards < spread[2] ? spread[2] : towards > spread[3] ? spread[3] : towards;
    float bound = towards * nearest +
                  root_of((1 - towards * towards) * (1 - nearest * nearest)) + 0.001f;
    bound = bound < 0 ? 0 : bound * r->cosine_limit + 1;
    return bound < FULL ? bound : FULL;
}

/* product: of the leading dimensions. */
static inline float row_cosine_bound(const run *r, const aspect *a, const sketch *one, int32_t product)
{
    float cosine = (float)product * (float)one->reciprocal * r->meaning_slope +
                   a->along * (float)one->rest_along + a->across * (float)one->rest_across + a->more;
    cosine = cosine > 0 ? cosine : 0;
    return cosine < r->cosine_most ? cosine : r->cosine_most;
}

#endif
