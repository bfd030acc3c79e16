/* The vectors of sites at length 1; bound by `directions.py`. */
#include <math.h>
#include <stdint.h>

enum { EMBEDDING = 64, NIBBLES = 16 };

static int signed_of(int nibble) { return nibble < 8 ? nibble : nibble - NIBBLES; }

/* See `vectors.directions`: sums of squares are whole, so both come to the same floats. */
void write_directions(const uint8_t *packed, int64_t count, float *to)
{
    for (int64_t row = 0; row < count; row++, packed += EMBEDDING) {
        float unit[NIBBLES];
        int32_t square = 0;
        for (int i = 0; i < EMBEDDING; i++) {
            int even = signed_of(packed[i] & 15), odd = signed_of(packed[i] >> 4);
            square += even * even + odd * odd;
        }
        float length = sqrtf((float)square);
        for (int n = 0; n < NIBBLES; n++) unit[n] = (float)signed_of(n) / (length < 1 ? 1 : length);
        for (int i = 0; i < EMBEDDING; i++) {
            *to++ = unit[packed[i] & 15];
            *to++ = unit[packed[i] >> 4];
        }
    }
}
