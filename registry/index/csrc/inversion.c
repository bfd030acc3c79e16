/* From the terms of each row to the rows of each term; bound by `inversion.py`, which
 * tells what the arrays are. Nothing here depends on how often a term occurs but time
 * spent on it once. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NO_CAPACITY = -1, NO_MEMORY = -2, LINE = 64, AHEAD = 2 };

typedef struct {
    uint64_t hash;
    uint32_t number; /* plus 1; 0 where nothing is */
    uint32_t rows;
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
static uint64_t key_of(const uint64_t *term_hashes, int64_t count)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++) sum += term_hashes[i];
    return (sum ^ sum >> 29) * 0xBF58476D1CE4E5B9u | 1;
}

/* Numbers the terms as they come. Returns how many there are, or why not. */
int64_t number_terms(const uint64_t *term_hashes, int64_t count, uint32_t *numbers,
                     uint64_t *hashes, int64_t *containing, int64_t capacity)
{
    table t = { .key = key_of(term_hashes, count) };
    int64_t terms = 0;
    if (!open_table(&t, 12)) return NO_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        slot *at = find_slot(&t, term_hashes[i]);
        if (!at->number) {
            if (terms == capacity) {
                terms = NO_CAPACITY;
                break;
            }
            hashes[terms++] = at->hash = term_hashes[i];
            at->number = (uint32_t)terms;
            if (terms * 2 > (int64_t)1 << t.bits) {
                if (!double_table(&t)) {
                    terms = NO_MEMORY;
                    break;
                }
                at = find_slot(&t, term_hashes[i]);
            }
        }
        numbers[i] = at->number - 1;
        at->rows++;
    }
    for (uint64_t i = 0; i < (uint64_t)1 << t.bits; i++)
        if (t.slots[i].number) containing[t.slots[i].number - 1] = t.slots[i].rows;
    free(t.slots);
    return terms;
}

/* Where the next posting of a term goes; its column; and its number among the frequent. */
typedef struct {
    int64_t next;
    int32_t column, frequent;
} term;

/* What a frequent term has in one block. */
typedef struct {
    uint32_t postings;
    uint8_t peak;
} block_count;

static void place(uint32_t row, const uint32_t *numbers, const uint8_t *impacts, int64_t count,
                  int64_t capacity, term *terms, block_count *own, uint32_t *postings, uint8_t *columns)
{
    for (int64_t i = 0; i < count; i++) {
        term *of = &terms[numbers[i]];
        if (of->frequent >= 0) {
            block_count *in = &own[of->frequent];
            in->postings++;
            if (impacts[i] > in->peak) in->peak = impacts[i];
        }
        if (of->column >= 0) columns[of->column * capacity + row] = impacts[i];
        else postings[of->next++] = row << 8 | impacts[i];
    }
}

/* Rows lie anywhere, so each is asked for before it is needed. */
static void ask_for(const uint32_t *numbers, const uint8_t *impacts, int64_t count)
{
    for (int64_t i = 0; i < count; i += LINE / 4) __builtin_prefetch(numbers + i);
    for (int64_t i = 0; i < count; i += LINE) __builtin_prefetch(impacts + i);
}

/* starts, lengths: of the terms of each row. firsts: where the postings of each term go.
 * block_starts: counts, to be summed up. Returns 0, or NO_MEMORY. */
int64_t place_terms(const uint32_t *numbers, const uint8_t *impacts, const int64_t *starts,
                    const int64_t *lengths, int64_t rows, int64_t block, const int64_t *firsts,
                    const int32_t *column_of, const int32_t *frequent_of, int64_t count,
                    int64_t frequent, uint32_t *postings, uint8_t *columns, uint32_t *block_starts,
                    uint8_t *block_max)
{
    int64_t blocks = (rows + block - 1) / block;
    term *terms = malloc((size_t)(count + 1) * sizeof *terms);
    block_count *own = malloc((size_t)(frequent + 1) * sizeof *own);
    if (!terms || !own) {
        free(terms), free(own);
        return NO_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) terms[i] = (term){firsts[i], column_of[i], frequent_of[i]};
    for (int64_t w = 0; w < blocks; w++) {
        int64_t end = (w + 1) * block < rows ? (w + 1) * block : rows;
        memset(own, 0, (size_t)frequent * sizeof *own);
        for (int64_t row = w * block; row < end; row++) {
            int64_t next = row + AHEAD < rows ? row + AHEAD : row;
            ask_for(numbers + starts[next], impacts + starts[next], lengths[next]);
            place((uint32_t)row, numbers + starts[row], impacts + starts[row], lengths[row],
                  blocks * block, terms, own, postings, columns);
        }
        for (int64_t f = 0; f < frequent; f++) {
            block_starts[f * (blocks + 1) + w + 1] = own[f].postings;
            block_max[f * blocks + w] = own[f].peak;
        }
    }
    free(terms), free(own);
    return 0;
}
