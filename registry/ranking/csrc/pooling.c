/* Sums of the rows of pieces of words; bound by `pooling.py`, which does the same in
 * NumPy. All are whole numbers below 2^53, so neither their order nor fractions matter. */
#include <math.h>
#include <stdint.h>

enum { DIMENSIONS = 128, MOST = 127 };

typedef struct {
    int32_t row, weight;
} piece;

/* Adds each piece's row, its weight times so often. table: rows of DIMENSIONS. */
void pool_pieces(const int16_t *table, const piece *pieces, int64_t count, int64_t times,
                 double *sums)
{
    for (int64_t i = 0; i < count; i++) {
        const int16_t *row = table + (int64_t)pieces[i].row * DIMENSIONS;
        const double weight = (double)(pieces[i].weight * times);
        for (int d = 0; d < DIMENSIONS; d++) sums[d] += weight * row[d];
    }
}

/* Of the sums, scaled to MOST and rounded half up. Gives the largest sum. */
double pool_request(const int16_t *table, const piece *pieces, int64_t count, int8_t *vector)
{
    double sums[DIMENSIONS] = {0}, largest = 1;
    pool_pieces(table, pieces, count, 1, sums);
    for (int d = 0; d < DIMENSIONS; d++) largest = fmax(largest, fabs(sums[d]));
    for (int d = 0; d < DIMENSIONS; d++) {
        const double scaled = floor((sums[d] * (2 * MOST + 1) + largest) / (2 * largest));
        vector[d] = (int8_t)(int32_t)(scaled > MOST ? MOST : scaled);
    }
    return largest;
}
