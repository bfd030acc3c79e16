/* BLAKE2b of four texts side by side, where the processor has vectors of four words: in two
 * fifths of the time. Otherwise `HAS_FOUR` is 0, or `can_four` says no. */
#ifndef BLAKE2B_FOUR_H
#define BLAKE2B_FOUR_H

#include "blake2b.h"

enum { LANES = 4 };

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_FOUR 1
#define WITH_VECTORS __attribute__((target("avx2")))

typedef uint64_t four __attribute__((vector_size(32)));

static int can_four(void) { return __builtin_cpu_supports("avx2"); }

WITH_VECTORS static inline void turn_four(four *word, const four *with, int bits)
{
    four both = *word ^ *with;
    *word = both >> bits | both << (64 - bits);
}

WITH_VECTORS static inline void mix_four(four *v, int a, int b, int c, int d, const four *x,
                                         const four *y)
{
    v[a] += v[b] + *x, turn_four(&v[d], &v[a], 32);
    v[c] += v[d], turn_four(&v[b], &v[c], 24);
    v[a] += v[b] + *y, turn_four(&v[d], &v[a], 16);
    v[c] += v[d], turn_four(&v[b], &v[c], 63);
}

/* See `compress`; is_last: all ones or 0. */
WITH_VECTORS static void compress_four(four *h, const uint8_t *const *blocks,
                                       const four *hashed, const four *is_last)
{
    four v[16], m[16];
    for (int i = 0; i < 16; i++)
        m[i] = (four){read_little(blocks[0] + 8 * i), read_little(blocks[1] + 8 * i),
                      read_little(blocks[2] + 8 * i), read_little(blocks[3] + 8 * i)};
    for (int i = 0; i < 8; i++) v[i] = h[i], v[i + 8] = (four){IV[i], IV[i], IV[i], IV[i]};
    v[12] ^= *hashed, v[14] ^= *is_last;
#pragma GCC unroll 12
    for (int round = 0; round < 12; round++) {
        const uint8_t *s = SIGMA[round % 10];
        mix_four(v, 0, 4, 8, 12, &m[s[0]], &m[s[1]]);
        mix_four(v, 1, 5, 9, 13, &m[s[2]], &m[s[3]]);
        mix_four(v, 2, 6, 10, 14, &m[s[4]], &m[s[5]]);
        mix_four(v, 3, 7, 11, 15, &m[s[6]], &m[s[7]]);
        mix_four(v, 0, 5, 10, 15, &m[s[8]], &m[s[9]]);
        mix_four(v, 1, 6, 11, 12, &m[s[10]], &m[s[11]]);
        mix_four(v, 2, 7, 8, 13, &m[s[12]], &m[s[13]]);
        mix_four(v, 3, 4, 9, 14, &m[s[14]], &m[s[15]]);
    }
    for (int i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
}

#else
#define HAS_FOUR 0
#endif

#endif
