/* Rows near the user, window by window; all other local rows are as far as `far` tells. */
#ifndef VICINITY_H
#define VICINITY_H

#include "bounds.h"

/* Cells are near in LEVELS of proximity. Those below FIRST_LEVEL are far, and more where
 * the near ones hold more than a NEAR_SHAREth of the rows. */
enum { LEVELS = 64, FIRST_LEVEL = 3, NEAR_SHARE = 8 };

static int level_of(float proximity) { return (int)(proximity * LEVELS / (FULL + 1)); }

static uint16_t near_units(const run *r, float proximity)
{
    return (uint16_t)(((float)r->asked->weights[1] * proximity + r->growth) / UNIT + 3);
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

/* Counts the near rows of each window, then places them, those of a window in a row. */
static void place_near(const run *r, const float *proximity, int first, vicinity *v)
{
    const segment *in = r->in;
    uint32_t *ends = v->starts + 1;
    for (int64_t c = 0; c < in->cells; c++) {
        if (level_of(proximity[c]) < first) continue;
        for (uint32_t i = in->cell_starts[c]; i < in->cell_starts[c + 1]; i++)
            ends[in->cell_rows[i] / WINDOW + 1]++;
    }
    for (int64_t w = 0; w < in->windows; w++) ends[w + 1] += ends[w];
    for (int64_t c = 0; c < in->cells; c++) {
        if (level_of(proximity[c]) < first) continue;
        const uint16_t units = near_units(r, proximity[c]);
        for (uint32_t i = in->cell_starts[c]; i < in->cell_starts[c + 1]; i++) {
            const uint32_t row = in->cell_rows[i], window = row / WINDOW;
            v->rows[ends[window]++] = (near_row){(uint16_t)(row % WINDOW), units};
            v->best[window] = units > v->best[window] ? units : v->best[window];
        }
    }
}

/* What proximity scores at most for those rows of a window that are not near. */
static uint16_t apart_from_near(const run *r, int64_t window)
{
    const uint8_t flags = r->in->window_flags[window];
    const vicinity *v = &r->near;
    if (!(flags & HAS_LOCAL)) return v->neutral;
    return (flags & HAS_OTHER) && v->neutral > v->far ? v->neutral : v->far;
}

static size_t vicinity_bytes(const segment *in, size_t rows)
{
    const vicinity *v = NULL;
    const size_t windows = (size_t)in->windows;
    return (windows + 2) * sizeof *v->starts + windows * sizeof *v->best + rows * sizeof *v->rows;
}

/* 0 where there is no room. */
static int find_near(run *r)
{
    const segment *in = r->in;
    vicinity *v = &r->near;
    const size_t windows = (size_t)in->windows, cells = r->asked->located ? (size_t)in->cells : 0;
    uint32_t rows = 0;
    int first = LEVELS;
    float *proximity = take(&r->left, cells * sizeof *proximity);
    if (!proximity) return 0;
    for (size_t c = 0; c < cells; c++)
        proximity[c] = proximity_within(r, in->cell_centre + c * 3, in->cell_reach[c]);
    if (cells) first = first_near_level(in, proximity, &rows);
    v->neutral = v->far = near_units(r, (float)r->asked->neutral);
    if (r->asked->located) v->far = near_units(r, (float)first * (FULL + 1) / LEVELS);
    v->starts = take(&r->left, vicinity_bytes(in, rows));
    if (!v->starts) return 0;
    memset(v->starts, 0, vicinity_bytes(in, 0));
    v->best = (uint16_t *)(v->starts + windows + 2);
    v->rows = (near_row *)(v->best + windows);
    if (rows) place_near(r, proximity, first, v);
    return 1;
}

#endif
