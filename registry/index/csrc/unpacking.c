/* The numbers of embeddings, two a byte; bound by `unpacking.py`. */
#include <stdint.h>

void unpack_embeddings(const uint8_t *packed, int64_t bytes, float *to)
{
    for (int64_t i = 0; i < bytes; i++) {
        to[2 * i] = (float)(((packed[i] & 15) ^ 8) - 8);
        to[2 * i + 1] = (float)(((packed[i] >> 4) ^ 8) - 8);
    }
}
