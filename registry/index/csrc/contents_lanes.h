/* BLAKE2b of LANES texts side by side, and the sum of contents by it; `contents.c` includes
 * it once for each number of lanes. NAMED gives a name of its own; WITH_VECTORS: what the
 * processor has to have. */

typedef uint64_t NAMED(vector) __attribute__((vector_size(8 * LANES)));
#define vector NAMED(vector)

/* left: bytes that were not hashed, or -1 where there is no more to hash. */
typedef struct {
    const uint8_t *at;
    int64_t done, left;
    uint8_t last[BLOCK];
} NAMED(lane);
#define lane NAMED(lane)

/* Digests whose pieces are still to be added. */
typedef struct {
    uint64_t *sum, waiting[LANES / PIECES][WORDS];
    int waits;
} NAMED(adding);
#define adding NAMED(adding)

WITH_VECTORS static inline void NAMED(turn)(vector *word, const vector *with, int bits)
{
    vector both = *word ^ *with;
    *word = both >> bits | both << (64 - bits);
}

WITH_VECTORS static inline void NAMED(mix)(vector *v, int a, int b, int c, int d,
                                           const vector *x, const vector *y)
{
    v[a] += v[b] + *x, NAMED(turn)(&v[d], &v[a], 32);
    v[c] += v[d], NAMED(turn)(&v[b], &v[c], 24);
    v[a] += v[b] + *y, NAMED(turn)(&v[d], &v[a], 16);
    v[c] += v[d], NAMED(turn)(&v[b], &v[c], 63);
}

/* See `compress`; is_last: all ones or 0. */
WITH_VECTORS static void NAMED(compress)(vector *h, const uint8_t *const *blocks,
                                         const vector *hashed, const vector *is_last)
{
    vector v[16], m[16];
    for (int i = 0; i < 16; i++)
        for (int own = 0; own < LANES; own++) m[i][own] = read_little(blocks[own] + 8 * i);
    for (int i = 0; i < 8; i++) v[i] = h[i], v[i + 8] = (vector){0} + IV[i];
    v[12] ^= *hashed, v[14] ^= *is_last;
#pragma GCC unroll 12
    for (int round = 0; round < 12; round++) {
        const uint8_t *s = SIGMA[round % 10];
        NAMED(mix)(v, 0, 4, 8, 12, &m[s[0]], &m[s[1]]);
        NAMED(mix)(v, 1, 5, 9, 13, &m[s[2]], &m[s[3]]);
        NAMED(mix)(v, 2, 6, 10, 14, &m[s[4]], &m[s[5]]);
        NAMED(mix)(v, 3, 7, 11, 15, &m[s[6]], &m[s[7]]);
        NAMED(mix)(v, 0, 5, 10, 15, &m[s[8]], &m[s[9]]);
        NAMED(mix)(v, 1, 6, 11, 12, &m[s[10]], &m[s[11]]);
        NAMED(mix)(v, 2, 7, 8, 13, &m[s[12]], &m[s[13]]);
        NAMED(mix)(v, 3, 4, 9, 14, &m[s[14]], &m[s[15]]);
    }
    for (int i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
}

static void NAMED(begin)(lane *own, vector *h, int number, bodies *b)
{
    own->left = -1;
    if (b->next == b->count) return;
    own->at = b->arrays[b->source[b->next]] + b->starts[b->next];
    own->done = 0, own->left = b->lengths[b->next++];
    for (int i = 0; i < WORDS; i++) h[i][number] = IV[i];
    h[0][number] ^= 0x01010000 ^ DIGEST;
}

/* The next block of a lane. Returns whether it is the last. */
static int NAMED(take_block)(lane *own, const uint8_t **block)
{
    *block = own->at;
    if (own->left > BLOCK) {
        own->at += BLOCK, own->done += BLOCK, own->left -= BLOCK;
        return 0;
    }
    memset(own->last, 0, BLOCK);
    if (own->left > 0) memcpy(own->last, own->at, (size_t)own->left);
    *block = own->last;
    own->done += own->left;
    return 1;
}

/* The pieces of the numbers that wait, side by side. */
WITH_VECTORS static void NAMED(add_pieces)(adding *to)
{
    uint8_t seeds[LANES][BLOCK] = {{0}};
    const uint8_t *blocks[LANES];
    vector h[WORDS], hashed = {0}, is_last = ~hashed;
    hashed += DIGEST + 1;
    for (int i = 0; i < WORDS; i++) h[i] = (vector){0} + IV[i];
    h[0] ^= 0x01010000 ^ DIGEST;
    for (int own = 0; own < LANES; own++) {
        blocks[own] = seeds[own];
        write_little(seeds[own], to->waiting[own / PIECES]);
        seeds[own][DIGEST] = (uint8_t)(own % PIECES);
    }
    NAMED(compress)(h, blocks, &hashed, &is_last);
    for (int one = 0; one < to->waits; one++) {
        uint64_t number[WORDS * PIECES];
        for (int i = 0; i < WORDS * PIECES; i++)
            number[i] = h[i % WORDS][PIECES * one + i / WORDS];
        add(to->sum, number);
    }
    to->waits = 0;
}

WITH_VECTORS static void NAMED(end)(lane *own, vector *h, int number, bodies *b, adding *to)
{
    for (int i = 0; i < WORDS; i++) to->waiting[to->waits][i] = h[i][number];
    if (++to->waits == LANES / PIECES) NAMED(add_pieces)(to);
    NAMED(begin)(own, h, number, b);
}

/* Whoever comes to an end takes the next body. */
WITH_VECTORS static void NAMED(add_all)(bodies *b, uint64_t *sum)
{
    lane lanes[LANES] = {{0}};
    const uint8_t *blocks[LANES];
    vector h[WORDS] = {{0}}, hashed = {0}, is_last = {0};
    adding to = {.sum = sum};
    for (int i = 0; i < LANES; i++) NAMED(begin)(&lanes[i], h, i, b);
    for (int busy = LANES; busy;) {
        for (int i = 0; i < LANES; i++) {
            is_last[i] = NAMED(take_block)(&lanes[i], &blocks[i]) ? UINT64_MAX : 0;
            hashed[i] = (uint64_t)lanes[i].done;
        }
        NAMED(compress)(h, blocks, &hashed, &is_last);
        busy = 0;
        for (int i = 0; i < LANES; i++) {
            if (is_last[i] && lanes[i].left >= 0) NAMED(end)(&lanes[i], h, i, b, &to);
            busy += lanes[i].left >= 0;
        }
    }
    if (to.waits) NAMED(add_pieces)(&to);
}

#undef vector
#undef lane
#undef adding
#undef LANES
#undef NAMED
#undef WITH_VECTORS
