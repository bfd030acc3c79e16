/* The terms and filters of a search, found in a segment. */
#ifndef TERMS_H
#define TERMS_H

#include <stdlib.h>
#include <string.h>

#include "segment.h"

/* A dense column, or postings in blocks, one a window; nothing where no row has it. step,
 * base: see `sieve.h`. */
typedef struct {
    const uint8_t *column, *peaks;
    const uint32_t *postings, *blocks;
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

/* The blocks of a term that is too rare to have them stored. */
static void cut_into_blocks(const uint32_t *postings, uint32_t count, int64_t windows,
                            uint32_t *restrict blocks, uint8_t *restrict peaks)
{
    memset(peaks, 0, (size_t)windows);
    memset(blocks, 0, (size_t)(windows + 1) * sizeof *blocks);
    uint32_t last = 0, peak = 0, end = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t window = (postings[i] >> 8) / WINDOW, impact = postings[i] & 255;
        peak &= 0u - (window == last); /* no branch, which would be guessed wrong */
        peak = impact > peak ? impact : peak;
        last = window;
        peaks[window] = (uint8_t)peak;
        blocks[window + 1] = i + 1;
    }
    for (int64_t window = 0; window < windows; window++) {
        end = blocks[window + 1] > end ? blocks[window + 1] : end;
        blocks[window + 1] = end;
    }
}

static void resolve(const segment *in, uint64_t hash, part *one, uint32_t *blocks,
                    uint8_t *peaks)
{
    int64_t term = find_term(in, hash);
    memset(one, 0, sizeof *one);
    if (term < 0) return;
    int32_t frequent = in->frequent_of[term], column = in->column_of[term];
    if (column >= 0) one->column = in->columns + column * in->windows * WINDOW;
    else one->postings = in->postings + in->starts[term];
    one->blocks = blocks;
    one->peaks = peaks;
    if (frequent >= 0) {
        one->blocks = in->blocks + frequent * (in->windows + 1);
        one->peaks = in->peaks + frequent * in->windows;
        return;
    }
    uint32_t count = (uint32_t)(in->starts[term + 1] - in->starts[term]);
    cut_into_blocks(one->postings, count, in->windows, blocks, peaks);
}

static uint8_t impact_of(const part *one, uint32_t row)
{
    if (one->column) return one->column[row];
    if (!one->postings) return 0;
    uint32_t low = one->blocks[row / WINDOW], end = one->blocks[row / WINDOW + 1];
    const uint32_t *from = one->postings + low; /* halved without a branch */
    for (uint32_t count = end - low; count > 1;) {
        const uint32_t half = count / 2;
        from = from[half] >> 8 <= row ? from + half : from;
        count -= half;
    }
    return low < end && *from >> 8 == row ? (uint8_t)*from : 0;
}

#endif
