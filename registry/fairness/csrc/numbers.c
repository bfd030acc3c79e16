/* The numbers of sites by their ids, -1 where one is not known; bound by
 * `window/site_numbers.py`. ids: by number. table: of each slot the number of one site, or
 * -1. sorted: the ids in order; order: their numbers. */
#include <stdint.h>

enum { AHEAD = 8 };

static int32_t bisect(const int64_t *sorted, const int32_t *order, int64_t sites, int64_t id)
{
    int64_t low = 0, high = sites;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (sorted[middle] < id) low = middle + 1;
        else high = middle;
    }
    return low < sites && sorted[low] == id ? order[low] : -1;
}

static uint64_t slot_of(int64_t id, int shift)
{
    return (uint64_t)id * 0x9E3779B97F4A7C15u >> shift;
}

void number_sites(const int64_t *ids, const int32_t *table, int shift, const int64_t *sorted,
                  const int32_t *order, int64_t sites, const int64_t *asked, int32_t *found,
                  int64_t count)
{
    for (int64_t a = 0; a < count; a++) {
        if (a + 2 * AHEAD < count) __builtin_prefetch(table + slot_of(asked[a + 2 * AHEAD], shift));
        if (a + AHEAD < count) {
            const int32_t next = table[slot_of(asked[a + AHEAD], shift)];
            if (next >= 0) __builtin_prefetch(ids + next);
        }
        const int64_t id = asked[a];
        const int32_t guess = table[slot_of(id, shift)];
        found[a] = guess >= 0 && ids[guess] == id ? guess : bisect(sorted, order, sites, id);
    }
}
