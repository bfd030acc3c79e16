/* The sum that tells what profiles an index holds; bound by `content.py`, which defines it. */
#include <stdint.h>
#include <string.h>

#include "blake2b.h"
#include "blake2b_four.h"

enum { WORDS = 8, PIECES = 4, DIGEST = 64 };

/* Runs of bytes, see `pack_runs`. next: the first that was not taken. */
typedef struct {
    const uint8_t *const *arrays;
    const uint16_t *source;
    const int64_t *starts, *lengths;
    int64_t count, next;
} bodies;

static void write_little(uint8_t *bytes, const uint64_t *words)
{
    for (int i = 0; i < DIGEST; i++) bytes[i] = (uint8_t)(words[i / 8] >> 8 * (i % 8));
}

/* sum: WORDS * PIECES words, the lowest first. */
static void add(uint64_t *sum, const uint64_t *number)
{
    uint64_t carry = 0;
    for (int i = 0; i < WORDS * PIECES; i++) {
        uint64_t with = sum[i] + carry;
        carry = with < carry;
        sum[i] = with + number[i];
        carry += sum[i] < with;
    }
}

static void add_one(uint64_t *sum, const uint8_t *bytes, int64_t length)
{
    uint64_t digest[WORDS], number[WORDS * PIECES];
    uint8_t seed[DIGEST + 1];
    blake2b(digest, DIGEST, bytes, length);
    write_little(seed, digest);
    for (int piece = 0; piece < PIECES; piece++) {
        seed[DIGEST] = (uint8_t)piece;
        blake2b(number + WORDS * piece, DIGEST, seed, DIGEST + 1);
    }
    add(sum, number);
}

#if HAS_FOUR

/* left: bytes that were not hashed, or -1 where there is no more to hash. */
typedef struct {
    const uint8_t *at;
    int64_t done, left;
    uint8_t last[BLOCK];
} lane;

static void begin(lane *own, four *h, int number, bodies *b)
{
    own->left = -1;
    if (b->next == b->count) return;
    own->at = b->arrays[b->source[b->next]] + b->starts[b->next];
    own->done = 0, own->left = b->lengths[b->next++];
    for (int i = 0; i < WORDS; i++) h[i][number] = IV[i];
    h[0][number] ^= 0x01010000 ^ DIGEST;
}

/* The next block of a lane. Returns whether it is the last. */
static int take_block(lane *own, const uint8_t **block)
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

/* The pieces of a number side by side. */
WITH_VECTORS static void add_pieces(uint64_t *sum, const uint64_t *digest)
{
    uint8_t seeds[PIECES][BLOCK] = {{0}};
    const uint8_t *blocks[PIECES];
    uint64_t number[WORDS * PIECES];
    four h[WORDS], hashed = {0}, is_last = ~hashed;
    hashed += DIGEST + 1;
    for (int i = 0; i < WORDS; i++) h[i] = (four){IV[i], IV[i], IV[i], IV[i]};
    h[0] ^= 0x01010000 ^ DIGEST;
    for (int piece = 0; piece < PIECES; piece++) {
        blocks[piece] = seeds[piece];
        write_little(seeds[piece], digest);
        seeds[piece][DIGEST] = (uint8_t)piece;
    }
    compress_four(h, blocks, &hashed, &is_last);
    for (int i = 0; i < WORDS * PIECES; i++) number[i] = h[i % WORDS][i / WORDS];
    add(sum, number);
}

WITH_VECTORS static void end(lane *own, four *h, int number, bodies *b, uint64_t *sum)
{
    uint64_t digest[WORDS];
    for (int i = 0; i < WORDS; i++) digest[i] = h[i][number];
    add_pieces(sum, digest);
    begin(own, h, number, b);
}

/* Whoever comes to an end takes the next body. */
WITH_VECTORS static void add_by_four(bodies *b, uint64_t *sum)
{
    lane lanes[LANES] = {{0}};
    const uint8_t *blocks[LANES];
    four h[WORDS] = {{0}}, hashed = {0}, is_last = {0};
    for (int i = 0; i < LANES; i++) begin(&lanes[i], h, i, b);
    for (int busy = LANES; busy;) {
        for (int i = 0; i < LANES; i++) {
            is_last[i] = take_block(&lanes[i], &blocks[i]) ? UINT64_MAX : 0;
            hashed[i] = (uint64_t)lanes[i].done;
        }
        compress_four(h, blocks, &hashed, &is_last);
        busy = 0;
        for (int i = 0; i < LANES; i++) {
            if (is_last[i] && lanes[i].left >= 0) end(&lanes[i], h, i, b, sum);
            busy += lanes[i].left >= 0;
        }
    }
}

#endif

void sum_contents(const uint8_t *const *arrays, const uint16_t *source,
                  const int64_t *starts, const int64_t *lengths, int64_t count,
                  uint64_t *sum)
{
    bodies b = {arrays, source, starts, lengths, count, 0};
#if HAS_FOUR
    if (can_four()) {
        add_by_four(&b, sum);
        return;
    }
#endif
    for (; b.next < count; b.next++)
        add_one(sum, arrays[source[b.next]] + starts[b.next], lengths[b.next]);
}
