/* From the terms of each row to the rows of each term; bound by `inversion.py`, which
 * tells what the arrays are. Nothing here depends on how often a term occurs but time
 * spent on it once. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NO_CAPACITY = -1, NO_MEMORY = -2 };

typedef struct {
    uint64_t hash;
    uint32_t number; /* plus 1; 0 where nothing is */
} slot;

typedef struct {
    slot *slots;
    uint64_t key;
    int bits;
} table;

static int open_table(table *t, int bits)
{
    t->bits = bits;
    t->slots = calloc((size_t)1 << bits, sizeof *t->slots);
    return t->slots != NULL;
}

/* Where the hash is, or would be. */
static slot *find_slot(const table *t, uint64_t hash)
{
    uint64_t last = ((uint64_t)1 << t->bits) - 1;
    uint64_t at = hash * t->key >> (64 - t->bits);
    while (t->slots[at].number && t->slots[at].hash != hash) at = (at + 1) & last;
    return &t->slots[at];
}

static int double_table(table *t)
{
    table larger = { .key = t->key };
    if (!open_table(&larger, t->bits + 1)) return 0;
    for (uint64_t i = 0; i < (uint64_t)1 << t->bits; i++)
        if (t->slots[i].number) *find_slot(&larger, t->slots[i].hash) = t->slots[i];
    free(t->slots);
    *t = larger;
    return 1;
}

/* An odd number that depends on all that is said: nobody can choose words that meet. */
static uint64_t key_of(const uint64_t *said, int64_t count)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++) sum += said[i];
    return (sum ^ sum >> 29) * 0xBF58476D1CE4E5B9u | 1;
}

/* Numbers the terms as they come. Returns how many there are, or why not. */
int64_t number_terms(const uint64_t *said, int64_t count, uint32_t *numbers,
                     uint64_t *hashes, int64_t *containing, int64_t room)
{
    table t = { .key = key_of(said, count) };
    int64_t terms = 0;
    if (!open_table(&t, 12)) return NO_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        slot *found = find_slot(&t, said[i]);
        if (!found->number) {
            if (terms == room) {
                terms = NO_CAPACITY;
                break;
            }
            hashes[terms] = found->hash = said[i];
            containing[terms++] = 0;
            found->number = (uint32_t)terms;
            if (terms * 2 > (int64_t)1 << t.bits) {
                if (!double_table(&t)) {
                    terms = NO_MEMORY;
                    break;
                }
                found = find_slot(&t, said[i]);
            }
        }
        numbers[i] = found->number - 1;
        containing[numbers[i]]++;
    }
    free(t.slots);
    return terms;
}

/* next: where the next posting of each term goes. blocks: counts, to be summed up. */
void place_terms(const uint32_t *numbers, const uint8_t *impacts, const int64_t *starts,
                 int64_t rows, int64_t window, int64_t *next, const int32_t *column_of,
                 const int32_t *frequent_of, uint32_t *postings, uint8_t *columns,
                 uint32_t *blocks, uint8_t *peaks)
{
    int64_t windows = (rows + window - 1) / window;
    for (int64_t row = 0; row < rows; row++) {
        int64_t own = row / window;
        for (int64_t i = starts[row]; i < starts[row + 1]; i++) {
            uint32_t term = numbers[i];
            int64_t frequent = frequent_of[term], column = column_of[term];
            if (frequent >= 0) {
                blocks[frequent * (windows + 1) + own + 1]++;
                uint8_t *peak = &peaks[frequent * windows + own];
                if (impacts[i] > *peak) *peak = impacts[i];
            }
            if (column >= 0) columns[column * windows * window + row] = impacts[i];
            else postings[next[term]++] = (uint32_t)row << 8 | impacts[i];
        }
    }
}

/* Runs of items one after the other. arrays: where they lie; source: in which of them;
 * size: bytes of an item. */
void pack_runs(const uint8_t *const *arrays, const uint16_t *source,
               const int64_t *starts, const int64_t *lengths, int64_t count,
               int64_t size, uint8_t *to)
{
    for (int64_t i = 0; i < count; i++) {
        size_t bytes = (size_t)(lengths[i] * size);
        memcpy(to, arrays[source[i]] + starts[i] * size, bytes);
        to += bytes;
    }
}
