/* Upper bounds. Only what they leave out depends on them, so they may be rounded, but
 * upwards: SLACK is far beyond what floating point loses here. */
#ifndef BOUNDS_H
#define BOUNDS_H

#include <math.h>

#include "factors.h"
#include "meaning.h"
#include "terms.h"

static const float SLACK = 4096; /* of a score up to 1e8 */
static const float EARTH_KM = 6371.0088f;

/* A request in one segment. cosine_limit: no embedding reaches more; cosine_most: nor
 * more than FULL. tail_limit: a unit of tail reaches no more than this. growth: what merits may have gained where a
 * page is asked for as of a time before theirs. */
typedef struct {
    const segment *in;
    const query *asked;
    part terms[MAX_TERMS], filters[MAX_FILTERS];
    int32_t n_terms, n_filters;
    meaning meant;
    float lexical_slope, lexical_gain, cosine_gain, cosine_slope, cosine_limit, cosine_most, tail_limit;
    float length, growth, origin[3];
    float *near; /* [cells]: what proximity scores at most, weighted */
    void *scratch;
} run;

static float length_of(const int8_t *vector, int from)
{
    float sum = 0;
    for (int i = from; i < DIMENSIONS; i++) sum += (float)vector[i] * vector[i];
    return sqrtf(sum);
}

static void set_limits(run *r)
{
    const query *q = r->asked;
    const float more = 1.00001f, reciprocals = 65536 + 64; /* which are rounded */
    float meaning = (float)((double)q->meaning_multiplier / 4294967296.0) * more;
    r->lexical_slope = (float)((double)q->lexical_multiplier / 4294967296.0) * more;
    r->lexical_gain = (float)q->lexical_share / q->full_relevance * more;
    r->cosine_gain = (float)(FULL - q->lexical_share) / q->full_relevance * more;
    r->length = length_of(q->vector, 0);
    r->cosine_slope = meaning;
    r->cosine_limit = meaning * reciprocals * r->length * more;
    r->cosine_most = r->cosine_limit < FULL ? r->cosine_limit : FULL;
    r->tail_limit = meaning * reciprocals * length_of(q->vector, LEAD) / 255 * more;
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

static float proximity_bound(const run *r, int64_t window)
{
    float neutral = (float)r->asked->neutral;
    uint8_t flags = r->in->window_flags[window];
    if (!r->asked->located || !(flags & HAS_LOCAL)) return neutral;
    float best = proximity_within(r, r->in->window_centre + window * 3, r->in->window_reach[window]);
    return (flags & HAS_OTHER) && best < neutral ? neutral : best;
}

static void bound_cells(run *r)
{
    float weight = (float)r->asked->weights[1];
    for (int64_t c = 0; c < r->in->cells; c++) {
        float best = (float)r->asked->neutral;
        if (c && r->asked->located)
            best = proximity_within(r, r->in->cell_centre + c * 3, r->in->cell_reach[c]);
        r->near[c] = weight * best;
    }
}

/* By how far the request is from the window's axis, and its embeddings at least and at
 * most: cos(a - b) = cos a cos b + sin a sin b. */
static float cosine_bound(const run *r, int64_t window)
{
    const int8_t *axis = r->in->window_axis + window * DIMENSIONS;
    const float *spread = r->in->window_spread + window * 3;
    int32_t product = 0;
    for (int i = 0; i < DIMENSIONS; i++) product += axis[i] * r->asked->vector[i];
    if (spread[0] <= 0 || r->length <= 0) return r->cosine_most;
    float towards = (float)product / (spread[0] * r->length);
    towards = towards > 1 ? 1 : towards < -1 ? -1 : towards;
    float nearest = towards < spread[1] ? spread[1] : towards > spread[2] ? spread[2] : towards;
    float bound = towards * nearest +
                  sqrtf((1 - towards * towards) * (1 - nearest * nearest)) + 0.001f;
    bound = bound < 0 ? 0 : bound * r->cosine_limit + 1;
    return bound < FULL ? bound : FULL;
}

/* What a row may mean, by its leading dimensions and the length of the others. */
static inline float row_cosine_bound(const run *r, uint32_t row, int32_t product, float limit)
{
    float cosine = (float)product * (float)r->in->reciprocal[row] * r->cosine_slope +
                   r->tail_limit * (float)r->in->tail[row] + 1;
    cosine = cosine < 0 ? 0 : cosine;
    return cosine < limit ? cosine : limit;
}

#endif
