/* Rows near the user, block by block; all other local rows are as far as `far` tells. */
#ifndef NEARBY_ROWS_H
#define NEARBY_ROWS_H

#include "bounds.h"

/* Cells are near in LEVELS of proximity. Those below FIRST_LEVEL are far, and more where
 * the near ones hold more than a NEAR_SHAREth of the rows. */
enum { LEVELS = 64, FIRST_LEVEL = 3, NEAR_SHARE = 8 };

static int level_of(float proximity) { return (int)(proximity * LEVELS / (FULL + 1)); }

static uint16_t near_units(const run *r, float proximity)
{
    return (uint16_t)(((float)r->request->weights[1] * proximity + r->growth) / UNIT + 3);
}

static uint32_t rows_of_cell(const segment *in, int64_t cell)
{
    return in->cell_starts[cell + 1] - in->cell_starts[cell];
}

/* The first level whose cells count as near; how many rows these have is told. */
static int first_near_level(const segment *in, const float *proximity, uint32_t *rows)
{
    uint32_t of_level[LEVELS] = {0};
    int level = LEVELS;
    *rows = 0;
    for (int64_t c = 0; c < in->cells; c++) of_level[level_of(proximity[c])] += rows_of_cell(in, c);
    while (level > FIRST_LEVEL && *rows + of_level[level - 1] <= in->rows / NEAR_SHARE)
        *rows += of_level[--level];
    return level;
}

/* Counts the near rows of each block, then places them, those of a block in a row. */
static void place_near(const run *r, const float *proximity, int first, nearby_rows *v)
{
    const segment *in = r->in;
    uint32_t *ends = v->starts + 1;
    for (int64_t c = 0; c < in->cells; c++) {
        if (level_of(proximity[c]) < first) continue;
        for (uint32_t i = in->cell_starts[c]; i < in->cell_starts[c + 1]; i++)
            ends[in->cell_rows[i] / BLOCK_ROWS + 1]++;
    }
    for (int64_t w = 0; w < in->blocks; w++) ends[w + 1] += ends[w];
    for (int64_t c = 0; c < in->cells; c++) {
        if (level_of(proximity[c]) < first) continue;
        const uint16_t units = near_units(r, proximity[c]);
        for (uint32_t i = in->cell_starts[c]; i < in->cell_starts[c + 1]; i++) {
            const uint32_t row = in->cell_rows[i], block = row / BLOCK_ROWS;
            v->rows[ends[block]++] = (near_row){(uint16_t)(row % BLOCK_ROWS), units};
            v->best[block] = units > v->best[block] ? units : v->best[block];
        }
    }
}

/* What proximity scores at most for those rows of a block that are not near. */
static uint16_t apart_from_near(const run *r, int64_t block)
{
    const uint8_t flags = r->in->block_flags[block];
    const nearby_rows *v = &r->near;
    if (!(flags & HAS_LOCAL)) return v->neutral;
    return (flags & HAS_OTHER) && v->neutral > v->far ? v->neutral : v->far;
}

static size_t nearby_rows_bytes(const segment *in, size_t rows)
{
    const nearby_rows *v = NULL;
    const size_t blocks = (size_t)in->blocks;
    return (blocks + 2) * sizeof *v->starts + blocks * sizeof *v->best + rows * sizeof *v->rows;
}

/* 0 where there is no room. */
static int find_near(run *r)
{
    const segment *in = r->in;
    nearby_rows *v = &r->near;
    const size_t blocks = (size_t)in->blocks, cells = r->request->located ? (size_t)in->cells : 0;
    uint32_t rows = 0;
    int first = LEVELS;
    float *proximity = take(&r->left, cells * sizeof *proximity);
    if (!proximity) return 0;
    for (size_t c = 0; c < cells; c++)
        proximity[c] = proximity_within(r, in->cell_centre + c * 3, in->cell_reach[c]);
    if (cells) first = first_near_level(in, proximity, &rows);
    v->neutral = v->far = near_units(r, (float)r->request->neutral);
    if (r->request->located) v->far = near_units(r, (float)first * (FULL + 1) / LEVELS);
    v->starts = take(&r->left, nearby_rows_bytes(in, rows));
    if (!v->starts) return 0;
    memset(v->starts, 0, nearby_rows_bytes(in, 0));
    v->best = (uint16_t *)(v->starts + blocks + 2);
    v->rows = (near_row *)(v->best + blocks);
    if (rows) place_near(r, proximity, first, v);
    return 1;
}

#endif
