/* What the kernel is given: segments and the constants of a search, as `kernel.py` lays
 * them out. All numbers are little-endian and of the sizes named here. */
#ifndef SEGMENT_H
#define SEGMENT_H

#include <stdint.h>

enum { FULL = 10000, FACTORS = 5, DAY_S = 86400 };
enum { BLOCK_ROWS = 256 };                      /* rows that share their bounds */
enum { DIMENSIONS = 276, HALVES = DIMENSIONS / 2 };
enum { LEAD = 120, LEAD_BYTES = LEAD / 2 };  /* dimensions that decide on most rows */
enum { REST_BYTES = HALVES - LEAD_BYTES };
enum { ALONG_UNIT = 127, ACROSS_UNIT = 255 };
enum { MERIT_UNIT = 1024, BEHIND_UNIT = 65536 }; /* of the score */
enum { LOCAL = 1, HIGHER_TIER = 2, GROUPED = 4 };
enum { HAS_LOCAL = 1, HAS_OTHER = 2 };
enum { MAX_TERMS = 160, MAX_FILTERS = 16 };

/* What is read of a row that its block's axis does not exclude. rest_along,
 * rest_across: of the unit embedding without its lead, along the axis without its lead,
 * in ALONG_UNIT, rounded, and across it, in ACROSS_UNIT, rounded up. */
typedef struct {
    uint8_t lead[LEAD_BYTES];   /* numbers plus 8, two a byte */
    uint16_t reciprocal;        /* 2^16 / length of the embedding */
    int8_t rest_along;
    uint8_t rest_across;
} sketch;

/* What is read of a row that is looked at closely. */
typedef struct {
    uint8_t rest[REST_BYTES];
    uint16_t depth;
    uint32_t changed_s; /* since 1970 */
    uint16_t quality;
    int8_t place[9]; /* x, y, z, three bytes each */
    uint8_t flags;
} record;

typedef struct {
    int64_t rows, blocks, terms, grouped, cells, n_axes;
    int64_t as_of_s;            /* of the merits */
    const record *records;
    const sketch *sketches;     /* [blocks * BLOCK_ROWS] */
    const int8_t *along;        /* cosine with the block's axis, in ALONG_UNIT, rounded */
    const uint8_t *across;      /* sine with it, in ACROSS_UNIT, rounded up */
    const uint8_t *behind;      /* the block's merit less the row's, rounded down */
    const uint8_t *alive;
    const uint64_t *hashes;     /* of the terms, ascending */
    const uint32_t *containing; /* rows a term */
    const int64_t *starts;      /* [terms + 1] into postings */
    const uint32_t *postings;   /* row << 8 | impact */
    const int32_t *column_of;   /* [terms]: number of a dense term's column, or -1 */
    const int32_t *frequent_of; /* [terms]: number of a term with stored block_starts, or -1 */
    const uint8_t *columns;     /* [dense][blocks * BLOCK_ROWS] */
    const uint32_t *block_starts;     /* [frequent][blocks + 1] from the first posting */
    const uint8_t *block_max;       /* [frequent][blocks]: greatest impact */
    const uint32_t *cell_starts; /* [cells + 1] into cell_rows */
    const uint32_t *cell_rows;  /* the local rows of each cell, ascending */
    const float *cell_centre;   /* [cells][3], of length 1 */
    const float *cell_reach;    /* from the centre to the farthest place; radians */
    const uint16_t *block_merit; /* the best score of depth, quality and freshness */
    const uint8_t *block_flags;
    const int8_t *axes;         /* [n_axes][DIMENSIONS]: directions */
    const float *axis_lengths;  /* [2][n_axes]: and those without their lead */
    const int32_t *axis_of;     /* [blocks]: number of its axis */
    const float *block_spread; /* [2][blocks]: the least and the greatest cosine of an
                                 * embedding with its axis */
    const uint32_t *grouped_rows; /* ascending */
    const int64_t *representatives;
} segment;

typedef struct {
    int64_t lexical_multiplier, meaning_multiplier; /* of 2^-32 */
    int64_t now_s;
    const uint64_t *term_hashes;
    const int32_t *term_weights;
    const uint64_t *filter_hashes;
    const int64_t *squared_chords; /* entry i: of i + 1 kilometres */
    const int32_t *near;           /* proximity by kilometres; the last stands for more */
    const int32_t *fresh;          /* freshness by days; the last stands for more */
    int32_t terms, filters, chords, near_size, fresh_size;
    int32_t lexical_share, full_relevance, floor, meaning_min, meaning_only_min;
    int32_t located, neutral;
    int32_t score_step, factor_step; /* in which scores and factors are shown */
    int32_t weights[FACTORS];
    int32_t origin[3];
    int8_t vector[DIMENSIONS];
} query;

typedef struct {
    int64_t rank_score; /* see `rank_score_of` */
    int64_t representative;   /* id of the site that leads its place, or 0 */
    uint32_t segment, row;
} ranked_row;

typedef struct {
    int32_t lexical, cosine, relevance, proximity, depth, quality, freshness;
    int32_t days, km, eligible;
    int64_t score;
} factors;

typedef struct {
    int64_t blocks, sketches, records;
} effort;

#endif
