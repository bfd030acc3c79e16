/* The sum that tells what profiles an index holds; bound by `content.py`, which defines it. */
#include <stdint.h>
#include <string.h>

#include "blake2b.h"

enum { WORDS = 8, PIECES = 4, DIGEST = 64 };

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

/* arrays, source, starts, lengths: runs of bytes, see `pack_runs`. */
void sum_contents(const uint8_t *const *arrays, const uint16_t *source,
                  const int64_t *starts, const int64_t *lengths, int64_t count,
                  uint64_t *sum)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t digest[WORDS], number[WORDS * PIECES];
        uint8_t seed[DIGEST + 1];
        blake2b(digest, DIGEST, arrays[source[i]] + starts[i], lengths[i]);
        write_little(seed, digest);
        for (int piece = 0; piece < PIECES; piece++) {
            seed[DIGEST] = (uint8_t)piece;
            blake2b(number + WORDS * piece, DIGEST, seed, DIGEST + 1);
        }
        add(sum, number);
    }
}
