/* Products of four-bit embeddings with a request's vector.
 *
 * Embeddings hold 0..15 for -8..7, two a byte; what the 8 adds to a sum is the same for
 * all rows and taken off once. Sums are whole numbers, in any order the same. */
#ifndef MEANING_H
#define MEANING_H

#include "segment.h"
#if defined(__SSSE3__)
#include <tmmintrin.h>
#endif

/* The vector's even and odd dimensions, and 8 times their sums. */
typedef struct {
    int8_t even[HALVES], odd[HALVES];
    int32_t lead_excess, rest_excess;
} meaning;

static void split(const int8_t *vector, meaning *m)
{
    m->lead_excess = m->rest_excess = 0;
    for (int i = 0; i < HALVES; i++) {
        m->even[i] = vector[2 * i];
        m->odd[i] = vector[2 * i + 1];
        *(i < LEAD_BYTES ? &m->lead_excess : &m->rest_excess) += 8 * (m->even[i] + m->odd[i]);
    }
}

#if defined(__SSSE3__)
static inline __m128i dot16(const uint8_t *packed, const int8_t *even, const int8_t *odd)
{
    const __m128i half = _mm_set1_epi8(15);
    __m128i both = _mm_loadu_si128((const __m128i *)packed);
    __m128i low = _mm_and_si128(both, half);
    __m128i high = _mm_and_si128(_mm_srli_epi16(both, 4), half);
    /* At most 4 * 15 * 127 a lane: no lane overflows. */
    __m128i pairs = _mm_add_epi16(
        _mm_maddubs_epi16(low, _mm_loadu_si128((const __m128i *)even)),
        _mm_maddubs_epi16(high, _mm_loadu_si128((const __m128i *)odd)));
    return _mm_madd_epi16(pairs, _mm_set1_epi16(1));
}

static inline __m128i dot32(const uint8_t *lead, const meaning *m)
{
    return _mm_add_epi32(dot16(lead, m->even, m->odd),
                         dot16(lead + 16, m->even + 16, m->odd + 16));
}

static inline int32_t dot(const uint8_t *packed, const int8_t *even, const int8_t *odd, int bytes)
{
    __m128i sum = dot16(packed, even, odd);
    for (int i = 16; i < bytes; i += 16)
        sum = _mm_add_epi32(sum, dot16(packed + i, even + i, odd + i));
    sum = _mm_hadd_epi32(sum, sum);
    return _mm_cvtsi128_si32(_mm_hadd_epi32(sum, sum));
}

static void lead_products(const uint8_t *lead, const meaning *m, int32_t *products)
{
    for (int i = 0; i < WINDOW; i += 4, lead += 4 * LEAD_BYTES) {
        __m128i a = _mm_hadd_epi32(dot32(lead, m), dot32(lead + LEAD_BYTES, m));
        __m128i b = _mm_hadd_epi32(dot32(lead + 2 * LEAD_BYTES, m), dot32(lead + 3 * LEAD_BYTES, m));
        __m128i sums = _mm_sub_epi32(_mm_hadd_epi32(a, b), _mm_set1_epi32(m->lead_excess));
        _mm_storeu_si128((__m128i *)(products + i), sums);
    }
}
#else
static inline int32_t dot(const uint8_t *packed, const int8_t *even, const int8_t *odd, int bytes)
{
    int32_t sum = 0;
    for (int i = 0; i < bytes; i++)
        sum += (packed[i] & 15) * even[i] + (packed[i] >> 4) * odd[i];
    return sum;
}

static void lead_products(const uint8_t *lead, const meaning *m, int32_t *products)
{
    for (int i = 0; i < WINDOW; i++)
        products[i] = dot(lead + i * LEAD_BYTES, m->even, m->odd, LEAD_BYTES) - m->lead_excess;
}
#endif

static inline int32_t lead_product(const uint8_t *lead, const meaning *m)
{
    return dot(lead, m->even, m->odd, LEAD_BYTES) - m->lead_excess;
}

static inline int32_t rest_product(const uint8_t *rest, const meaning *m)
{
    return dot(rest, m->even + LEAD_BYTES, m->odd + LEAD_BYTES, REST_BYTES) - m->rest_excess;
}

#endif
