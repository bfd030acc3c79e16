/* Products of whole embeddings with a request's vector, of rows that lie one after the other:
 * four at a time where the machine has registers of 32 bytes, which is found out when the
 * library runs. */
#ifndef PRODUCTS_H
#define PRODUCTS_H

#include "meaning.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define WIDE __attribute__((target("avx2")))

enum { FOUR = 4, HALF_RECORD = sizeof(record) / 2 };

/* The even and odd dimensions, as long as a register. */
typedef struct {
    __m256i even, odd;
} wide_part;

WIDE static inline wide_part load_part(const int8_t *even, const int8_t *odd)
{
    return (wide_part){_mm256_loadu_si256((const __m256i *)even),
                       _mm256_loadu_si256((const __m256i *)odd)};
}

WIDE static inline __m256i dot_wide(const void *packed, const wide_part *with)
{
    const __m256i half = _mm256_set1_epi8(15);
    __m256i both = _mm256_loadu_si256(packed);
    __m256i low = _mm256_and_si256(both, half);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(both, 4), half);
    return _mm256_add_epi16(_mm256_maddubs_epi16(low, with->even),
                            _mm256_maddubs_epi16(high, with->odd));
}

/* The sums of four registers. */
WIDE static inline __m128i add_up(const __m256i *sums)
{
    __m256i pairs = _mm256_hadd_epi32(_mm256_hadd_epi32(sums[0], sums[1]),
                                      _mm256_hadd_epi32(sums[2], sums[3]));
    return _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
}

/* Of whole embeddings, of rows that lie one after the other. Gives how many rows it took. */
WIDE static int multiply_rows_wide(const sketch *leads, const record *rests, int count,
                              const meaning *m, int32_t *products)
{
    const wide_part lead = load_part(m->lead_even, m->lead_odd);
    const wide_part rest = load_part(m->rest_even, m->rest_odd);
    const wide_part last = load_part(m->rest_even + HALF_RECORD, m->rest_odd + HALF_RECORD);
    const __m128i excess = _mm_set1_epi32(m->lead_excess + m->rest_excess);
    int row = 0;
    for (; row + FOUR <= count; row += FOUR) {
        __m256i sums[FOUR];
        for (int i = 0; i < FOUR; i++) {
            const char *record_of = (const char *)&rests[row + i];
            /* At most 4 * 15 * 127 a lane: of three no lane overflows. */
            __m256i sum = _mm256_add_epi16(dot_wide(&leads[row + i], &lead), dot_wide(record_of, &rest));
            sum = _mm256_add_epi16(sum, dot_wide(record_of + HALF_RECORD, &last));
            sums[i] = _mm256_madd_epi16(sum, _mm256_set1_epi16(1));
        }
        _mm_storeu_si128((__m128i *)(products + row), _mm_sub_epi32(add_up(sums), excess));
    }
    return row;
}

static inline int has_wide(void) { return __builtin_cpu_supports("avx2"); }
#else
static int multiply_rows_wide(const sketch *leads, const record *rests, int count, const meaning *m,
                              int32_t *products)
{
    (void)leads, (void)rests, (void)count, (void)m, (void)products;
    return 0;
}

static inline int has_wide(void) { return 0; }
#endif

static void multiply_rows(const sketch *leads, const record *rests, int count, const meaning *m,
                          int32_t *products)
{
    int row = has_wide() ? multiply_rows_wide(leads, rests, count, m, products) : 0;
    for (; row < count; row++)
        products[row] = lead_product(&leads[row], m) + rest_product(&rests[row], m);
}

#endif
