/* The terms and filters of a search, found in a segment. */
#ifndef TERMS_H
#define TERMS_H

#include <stdlib.h>
#include <string.h>

#include "segment.h"

/* A dense column, or postings in block_starts, one a block; nothing where no row has it. step,
 * base: see `row_bounds.h`. */
typedef struct {
    const uint8_t *column, *block_max;
    const uint32_t *postings, *block_starts;
    uint32_t weight;
    uint16_t step, base;
} part;

static int64_t find_term(const segment *in, uint64_t hash)
{
    int64_t low = 0, high = in->terms;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (in->hashes[middle] < hash) low = middle + 1;
        else high = middle;
    }
    return low < in->terms && in->hashes[low] == hash ? low : -1;
}

/* The block_starts of a term that is too rare to have them stored. */
static void cut_into_blocks(const uint32_t *postings, uint32_t count, int64_t blocks,
                            uint32_t *restrict block_starts, uint8_t *restrict block_max)
{
    memset(block_max, 0, (size_t)blocks);
    memset(block_starts, 0, (size_t)(blocks + 1) * sizeof *block_starts);
    uint32_t last = 0, peak = 0, end = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t block = (postings[i] >> 8) / BLOCK_ROWS, impact = postings[i] & 255;
        peak &= 0u - (block == last); /* no branch, which would be guessed wrong */
        peak = impact > peak ? impact : peak;
        last = block;
        block_max[block] = (uint8_t)peak;
        block_starts[block + 1] = i + 1;
    }
    for (int64_t block = 0; block < blocks; block++) {
        end = block_starts[block + 1] > end ? block_starts[block + 1] : end;
        block_starts[block + 1] = end;
    }
}

static void resolve(const segment *in, uint64_t hash, part *p, uint32_t *block_starts,
                    uint8_t *block_max)
{
    int64_t term = find_term(in, hash);
    memset(p, 0, sizeof *p);
    if (term < 0) return;
    int32_t frequent = in->frequent_of[term], column = in->column_of[term];
    if (column >= 0) p->column = in->columns + column * in->blocks * BLOCK_ROWS;
    else p->postings = in->postings + in->starts[term];
    p->block_starts = block_starts;
    p->block_max = block_max;
    if (frequent >= 0) {
        p->block_starts = in->block_starts + frequent * (in->blocks + 1);
        p->block_max = in->block_max + frequent * in->blocks;
        return;
    }
    uint32_t count = (uint32_t)(in->starts[term + 1] - in->starts[term]);
    cut_into_blocks(p->postings, count, in->blocks, block_starts, block_max);
}

static uint8_t impact_of(const part *p, uint32_t row)
{
    if (p->column) return p->column[row];
    if (!p->postings) return 0;
    uint32_t low = p->block_starts[row / BLOCK_ROWS], end = p->block_starts[row / BLOCK_ROWS + 1];
    const uint32_t *from = p->postings + low; /* halved without a branch */
    for (uint32_t count = end - low; count > 1;) {
        const uint32_t half = count / 2;
        from = from[half] >> 8 <= row ? from + half : from;
        count -= half;
    }
    return low < end && *from >> 8 == row ? (uint8_t)*from : 0;
}

#endif
