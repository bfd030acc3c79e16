/* Products of four-bit embeddings with a request's vector.
 *
 * Embeddings hold 0..15 for -8..7, two a byte; what the 8 adds to a sum is the same for
 * all rows and taken off once. Sums are whole numbers, in any order the same. Sketches and
 * records are read in whole pieces of PIECE bytes: what follows the embedding there is
 * multiplied by nothing. */
#ifndef MEANING_H
#define MEANING_H

#include <string.h>

#include "segment.h"
#if defined(__SSSE3__)
#include <tmmintrin.h>
#endif

/* A loop over a block is compiled for wider registers besides, and the machine's own is
 * chosen when the library is loaded; all compute the same. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_MACHINE __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_MACHINE
#endif

enum { PIECE = 16, LEAD_PIECES = 4 * PIECE, REST_PIECES = 5 * PIECE };

_Static_assert(LEAD_BYTES <= LEAD_PIECES && sizeof(sketch) >= LEAD_PIECES, "read past a sketch");
_Static_assert(REST_BYTES <= REST_PIECES && sizeof(record) >= REST_PIECES, "read past a record");

/* The even and odd dimensions of a part of the vector, and 8 times their sum. */
typedef struct {
    int8_t lead_even[LEAD_PIECES], lead_odd[LEAD_PIECES];
    int8_t rest_even[sizeof(record)], rest_odd[sizeof(record)];
    int32_t lead_excess, rest_excess;
} meaning;

static int32_t split_part(const int8_t *vector, int bytes, int8_t *even, int8_t *odd)
{
    int32_t excess = 0;
    for (int i = 0; i < bytes; i++) {
        even[i] = vector[2 * i];
        odd[i] = vector[2 * i + 1];
        excess += 8 * (even[i] + odd[i]);
    }
    return excess;
}

static void split(const int8_t *vector, meaning *m)
{
    memset(m, 0, sizeof *m);
    m->lead_excess = split_part(vector, LEAD_BYTES, m->lead_even, m->lead_odd);
    m->rest_excess = split_part(vector + LEAD, REST_BYTES, m->rest_even, m->rest_odd);
}

#if defined(__SSSE3__)
static inline __m128i dot_piece(const uint8_t *packed, const int8_t *even, const int8_t *odd)
{
    const __m128i half = _mm_set1_epi8(15);
    __m128i both = _mm_loadu_si128((const __m128i *)packed);
    __m128i low = _mm_and_si128(both, half);
    __m128i high = _mm_and_si128(_mm_srli_epi16(both, 4), half);
    /* At most 4 * 15 * 127 a lane: of four pieces no lane overflows. */
    return _mm_add_epi16(_mm_maddubs_epi16(low, _mm_loadu_si128((const __m128i *)even)),
                         _mm_maddubs_epi16(high, _mm_loadu_si128((const __m128i *)odd)));
}

static inline int32_t dot(const uint8_t *packed, const int8_t *even, const int8_t *odd, int bytes)
{
    __m128i sum = _mm_setzero_si128();
    for (int i = 0; i < bytes;) {
        const int end = i + 4 * PIECE < bytes ? i + 4 * PIECE : bytes;
        __m128i lanes = _mm_setzero_si128();
        for (; i < end; i += PIECE)
            lanes = _mm_add_epi16(lanes, dot_piece(packed + i, even + i, odd + i));
        sum = _mm_add_epi32(sum, _mm_madd_epi16(lanes, _mm_set1_epi16(1)));
    }
    sum = _mm_hadd_epi32(sum, sum);
    return _mm_cvtsi128_si32(_mm_hadd_epi32(sum, sum));
}
#else
static inline int32_t dot(const uint8_t *packed, const int8_t *even, const int8_t *odd, int bytes)
{
    int32_t sum = 0;
    for (int i = 0; i < bytes; i++)
        sum += (packed[i] & 15) * even[i] + (packed[i] >> 4) * odd[i];
    return sum;
}
#endif

/* Of each axis with the vector, and with the vector without its lead. */
FOR_EACH_MACHINE
static void multiply_axes(const int8_t *restrict axes, int64_t n, const int16_t *restrict vector,
                          const int16_t *restrict rest, int32_t *restrict whole, int32_t *restrict beyond)
{
    for (int64_t axis = 0; axis < n; axis++, axes += DIMENSIONS) {
        int32_t all = 0, part = 0;
        for (int i = 0; i < DIMENSIONS; i++) all += axes[i] * vector[i];
        for (int i = LEAD / 16 * 16; i < DIMENSIONS; i++) part += axes[i] * rest[i];
        whole[axis] = all;
        beyond[axis] = part;
    }
}

static inline int32_t lead_product(const sketch *row_sketch, const meaning *m)
{
    return dot((const uint8_t *)row_sketch, m->lead_even, m->lead_odd, LEAD_PIECES) - m->lead_excess;
}

static inline int32_t rest_product(const record *site, const meaning *m)
{
    return dot((const uint8_t *)site, m->rest_even, m->rest_odd, REST_PIECES) - m->rest_excess;
}

#endif
