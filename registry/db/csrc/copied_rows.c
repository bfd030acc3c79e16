/* Where the rows of a binary COPY lie; bound by `copied_rows.py`, which tells their form. */
#include <stdint.h>

enum { ROW = 6, SIZE_AT = 2 };

/* Of the rows that are whole, from there on; returns how many. There is room for as many
 * as there may be. */
int64_t find_copied_rows(const uint8_t *held, int64_t length, int64_t at, int64_t *starts,
                         int64_t *lengths)
{
    int64_t rows = 0;
    while (length - at >= ROW) {
        const uint8_t *told = held + at + SIZE_AT;
        int64_t size = (int64_t)told[0] << 24 | told[1] << 16 | told[2] << 8 | told[3];
        if (length - at - ROW < size) break;
        starts[rows] = at + ROW;
        lengths[rows++] = size;
        at += ROW + size;
    }
    return rows;
}
