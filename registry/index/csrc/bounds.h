/* Upper bounds. Only what they leave out depends on them, so they may be rounded, but
 * upwards: SLACK is far beyond what floating point loses here. */
#ifndef BOUNDS_H
#define BOUNDS_H

#include <math.h>

#include "factors.h"
#include "meaning.h"
#include "arena.h"
#include "terms.h"

enum { UNIT = 4096 }; /* of a score up to 1e8, in 16-bit bounds */
static const float SLACK = 4096;
static const float EARTH_KM = 6371.0088f;
static const float MORE = 1.00001f;
static const float RECIPROCALS = 65536 + 64; /* which are rounded */

/* What a block's axis tells of a request: a row's dimensions beyond the lead mean at most
 * along * rest_along + across * rest_across + more. */
typedef struct {
    float along, across, more;
} aspect;

/* A row of a block, by its number there, and what its proximity scores at most; in UNIT,
 * rounded up, with growth. */
typedef struct {
    uint16_t at, units;
} near_row;

/* Where a place is asked from: near rows, those of a block from its start; the best of
 * them; and what other local rows have at most. neutral: what rows without a place have. */
typedef struct {
    uint32_t *starts;
    near_row *rows;
    uint16_t *best;
    uint16_t far, neutral;
} nearby_rows;

/* A request in one segment. meaning: of one unit of length. cosine_limit: no embedding
 * reaches more; cosine_most: nor more than FULL. length, rest_length: of the vector, and
 * without its lead. growth: what merits may have gained where a page is asked for as of
 * a time before theirs. */
typedef struct {
    const segment *in;
    const query *request;
    part terms[MAX_TERMS], filters[MAX_FILTERS];
    int32_t n_terms, n_filters;
    meaning meant;
    int16_t vector[DIMENSIONS], rest[DIMENSIONS]; /* the latter 0 in the lead */
    float lexical_slope, lexical_gain, cosine_gain, meaning_slope, cosine_limit, cosine_most;
    float length, rest_length, growth, origin[3];
    nearby_rows near;
    arena left;
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
    const query *q = r->request;
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

/* ---- proximity ---- */

/* Within reach, in radians, of a centre. */
static float proximity_within(const run *r, const float *centre, float reach)
{
    const query *q = r->request;
    float inner = r->origin[0] * centre[0] + r->origin[1] * centre[1] + r->origin[2] * centre[2];
    /* A chord is shorter than its arc. */
    float chord = inner < 1 ? sqrtf(2 - 2 * inner) : 0;
    float km = (chord - reach) * EARTH_KM - 12;
    int32_t last = q->near_size - 1;
    return (float)q->near[km <= 0 ? 0 : km < (float)last ? (int32_t)km : last];
}

/* ---- meaning ---- */

static inline float within_one(float cosine)
{
    return cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
}

static inline float root_of(float square) { return sqrtf(square > 0 ? square : 0); }

#endif
