/* Which texts are the same; bound by `equal_texts.py`. */
#include <stdint.h>
#include <string.h>

enum { TRIES_MAX = 16 };

/* Of each text the number of one that is the same: of the first, unless many others lie
 * where it is looked for. slots: filled with -1; a power of two, more than texts. */
void first_equals(const uint8_t *bytes, const int64_t *at, const int64_t *lengths, int32_t *slots,
                  int32_t *first, int64_t texts, int64_t slot_count)
{
    for (int64_t t = 0; t < texts; t++) {
        uint64_t hash = 0xcbf29ce484222325u;
        for (int64_t i = 0; i < lengths[t]; i++)
            hash = (hash ^ bytes[at[t] + i]) * 0x100000001b3u;
        hash ^= hash >> 32;
        first[t] = (int32_t)t;
        for (uint64_t tries = 0; tries < TRIES_MAX; tries++) {
            int32_t *slot = slots + ((hash + tries) & (uint64_t)(slot_count - 1));
            if (*slot < 0) *slot = (int32_t)t;
            const int32_t other = *slot;
            if (lengths[other] == lengths[t] &&
                !memcmp(bytes + at[other], bytes + at[t], (size_t)lengths[t])) {
                first[t] = other;
                break;
            }
        }
    }
}
