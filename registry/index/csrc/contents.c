/* The sum that tells what profiles an index holds; bound by `content.py`, which defines it. */
#include <stdint.h>
#include <string.h>

#include "blake2b.h"

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

/* Side by side where the processor has vectors: four words wide in two fifths of the time,
 * eight in a sixth. */
#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_VECTORS 1

#define LANES 4
#define NAMED(name) name##_four
#define WITH_VECTORS __attribute__((target("avx2")))
#include "contents_lanes.h"

#define LANES 8
#define NAMED(name) name##_eight
#define WITH_VECTORS __attribute__((target("avx512f,avx512vl,prefer-vector-width=512")))
#include "contents_lanes.h"
#endif

void sum_contents(const uint8_t *const *arrays, const uint16_t *source,
                  const int64_t *starts, const int64_t *lengths, int64_t count,
                  uint64_t *sum)
{
    bodies b = {arrays, source, starts, lengths, count, 0};
#ifdef HAS_VECTORS
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return add_all_eight(&b, sum);
    if (__builtin_cpu_supports("avx2")) return add_all_four(&b, sum);
#endif
    for (; b.next < count; b.next++)
        add_one(sum, arrays[source[b.next]] + starts[b.next], lengths[b.next]);
}
