/* The five factors of a row and their sum: integers, as `oracle.py` computes them. */
#ifndef FACTORS_H
#define FACTORS_H

#include "segment.h"

static inline int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

static inline int32_t lexical_of(const query *q, uint32_t matched)
{
    return (int32_t)least_of(FULL, ((int64_t)matched * q->lexical_multiplier) >> 32);
}

static inline int32_t cosine_of(const query *q, int32_t product, uint16_t reciprocal)
{
    if (product <= 0) return 0;
    int64_t likeness = (int64_t)product * reciprocal;
    return (int32_t)least_of(FULL, (likeness * q->meaning_multiplier) >> 32);
}

static inline int32_t relevance_of(const query *q, int32_t lexical, int32_t cosine)
{
    uint32_t share = (uint32_t)q->lexical_share; /* sums stay below 1e8 */
    uint32_t fused = share * (uint32_t)lexical + (FULL - share) * (uint32_t)cosine;
    return (int32_t)least_of(FULL, fused / (uint32_t)q->full_relevance);
}

static inline int is_eligible(const query *q, int32_t relevance, uint32_t matched, int32_t cosine)
{
    return relevance >= q->floor && cosine >= (matched ? q->meaning_min : q->meaning_only_min);
}

static inline int32_t coordinate(const int8_t *three)
{
    return (int32_t)(uint8_t)three[0] | (int32_t)(uint8_t)three[1] << 8 |
           (int32_t)three[2] * 65536;
}

static inline int64_t squared_chord(const query *q, const record *site)
{
    int64_t sum = 0;
    for (int i = 0; i < 3; i++) {
        int64_t difference = coordinate(site->place + 3 * i) - q->origin[i];
        sum += difference * difference;
    }
    return sum;
}

/* Whole kilometres, rounded down; at most `most`. */
static inline int32_t kilometres(const query *q, int64_t squared, int32_t most)
{
    const int64_t *base = q->squared_chords;
    int32_t left = most < q->chords ? most : q->chords;
    while (left > 1) {
        int32_t half = left / 2;
        base = base[half - 1] <= squared ? base + half : base;
        left -= half;
    }
    return (int32_t)(base - q->squared_chords) + (left > 0 && *base <= squared);
}

static inline int32_t proximity_of(const query *q, const record *site)
{
    if (!q->located || !(site->flags & LOCAL)) return q->neutral;
    return q->near[kilometres(q, squared_chord(q, site), q->near_size - 1)];
}

static inline int32_t days_of(const query *q, const record *site)
{
    int64_t seconds = q->now_s - site->changed_s;
    return seconds < 0 ? 0 : (int32_t)(seconds / DAY_S);
}

static inline int32_t freshness_of(const query *q, const record *site)
{
    int32_t days = days_of(q, site);
    return q->fresh[days < q->fresh_size ? days : q->fresh_size - 1];
}

/* All but relevance, weighted. */
static inline int64_t score_apart(const query *q, const record *site)
{
    const int32_t *w = q->weights;
    return (int64_t)w[1] * proximity_of(q, site) + (int64_t)w[2] * site->depth +
           (int64_t)w[3] * site->quality + (int64_t)w[4] * freshness_of(q, site);
}

/* ---- the order: as `ranking/rank_score.py` computes it ---- */

static inline int32_t shown_factor(const query *q, int32_t factor)
{
    return (factor + q->factor_step / 2) / q->factor_step;
}

/* Rank scores of one shown score. */
static inline int64_t ranks_of_shown(const query *q)
{
    const int64_t values = shown_factor(q, FULL) + 1;
    return 2 * values * values * q->score_step;
}

static inline int64_t rank_score_of(const query *q, int64_t score, int32_t relevance,
                                    const record *site)
{
    const int64_t rounded = score + q->score_step / 2, values = shown_factor(q, FULL) + 1;
    int64_t shown = rounded / q->score_step;
    shown = shown * values + shown_factor(q, relevance);
    shown = shown * values + shown_factor(q, site->quality);
    const int lower = !(site->flags & HIGHER_TIER);
    return (2 * shown + lower) * q->score_step + rounded % q->score_step;
}

/* No lower score has a rank score of so much; never as low as what is ruled out (-1). */
static inline float least_score(const query *q, int64_t rank_score)
{
    const int64_t least = rank_score / ranks_of_shown(q) * q->score_step - q->score_step / 2;
    return rank_score < 0 || least < 0 ? -0.5f : (float)least;
}

#endif
