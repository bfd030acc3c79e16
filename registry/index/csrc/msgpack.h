/* MessagePack, read as it comes: `in.broken` once something else stands there, and then
 * each number is 0 and each text empty. Nothing is read beyond the end. */
#ifndef MSGPACK_H
#define MSGPACK_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { DEPTH_MAX = 16 };

typedef struct {
    const uint8_t *at, *end;
    int broken;
} input;

typedef struct {
    const uint8_t *bytes;
    int64_t length;
} text;

typedef enum { OTHER, TEXT, BYTES, ARRAY, MAP } kind;

static inline uint64_t read_number(input *in, int bytes)
{
    uint64_t number = 0;
    if (in->end - in->at < bytes) {
        in->broken = 1;
        return 0;
    }
    for (int i = 0; i < bytes; i++) number = number << 8 | *in->at++;
    return number;
}

/* Up to what fits a signed number. */
static inline int64_t read_natural(input *in)
{
    uint64_t number = read_number(in, 1);
    if (number >= 0x80) {
        if (number < 0xcc || number > 0xcf) in->broken = 1;
        else number = read_number(in, 1 << (number - 0xcc));
    }
    if (number > INT64_MAX) in->broken = 1;
    return in->broken ? 0 : (int64_t)number;
}

/* What begins with short_first + size for small sizes, else with first16 or first16 + 1. */
static inline uint64_t read_size(input *in, unsigned short_first, unsigned short_sizes,
                          unsigned first16)
{
    uint64_t first = read_number(in, 1);
    if (first >= short_first && first < short_first + short_sizes) return first - short_first;
    if (first == first16) return read_number(in, 2);
    if (first == first16 + 1) return read_number(in, 4);
    in->broken = 1;
    return 0;
}

static inline uint64_t read_array(input *in)
{
    uint64_t members = read_size(in, 0x90, 16, 0xdc);
    return in->broken ? 0 : members;
}

static inline uint64_t read_map(input *in)
{
    uint64_t members = read_size(in, 0x80, 16, 0xde);
    return in->broken ? 0 : members;
}

static inline void expect_map(input *in, uint64_t members)
{
    if (read_map(in) != members) in->broken = 1;
}

static inline const uint8_t *pass(input *in, uint64_t size)
{
    const uint8_t *at = in->at;
    if ((uint64_t)(in->end - in->at) < size) in->broken = 1;
    else in->at += size;
    return at;
}

static inline int is_utf8(const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        uint64_t eight = 0x80;
        if (end - at >= 8) memcpy(&eight, at, sizeof eight);
        if (!(eight & 0x8080808080808080u)) {
            at += 8;
            continue;
        }
        uint8_t first = *at++;
        if (first < 0x80) continue;
        int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
        uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        if (first < 0xc2 || first > 0xf4 || end - at < more) return 0;
        if (*at < low || *at > high) return 0;
        for (int i = 1; i < more; i++)
            if ((at[i] & 0xc0) != 0x80) return 0;
        at += more;
    }
    return 1;
}

static inline text read_text(input *in)
{
    uint64_t first = read_number(in, 1), size;
    if (first >= 0xa0 && first < 0xc0) size = first - 0xa0;
    else if (first >= 0xd9 && first <= 0xdb) size = read_number(in, 1 << (first - 0xd9));
    else size = 0, in->broken = 1;
    const uint8_t *at = pass(in, size);
    if (!in->broken && !is_utf8(at, at + size)) in->broken = 1;
    return (text){at, in->broken ? 0 : (int64_t)size};
}

/* A text of less than 32 bytes, as short as can be. The key is a literal: so its length is
 * known where it is compared. */
#define expect_key(in, key) expect_text(in, key, sizeof key - 1)

static inline void expect_text(input *in, const char *key, size_t length)
{
    if ((size_t)(in->end - in->at) <= length || *in->at != (0xa0 | length) ||
        memcmp(in->at + 1, key, length)) {
        in->broken = 1;
        return;
    }
    in->at += 1 + length;
}

static inline int read_truth(input *in)
{
    uint64_t first = read_number(in, 1);
    if (first != 0xc2 && first != 0xc3) in->broken = 1;
    return first == 0xc3;
}

static inline int is_nil(input *in)
{
    if (in->at == in->end || *in->at != 0xc0) return 0;
    in->at++;
    return 1;
}

static inline double read_fraction(input *in)
{
    double fraction;
    if (read_number(in, 1) != 0xcb) in->broken = 1;
    uint64_t bits = read_number(in, 8);
    memcpy(&fraction, &bits, sizeof fraction);
    if (!isfinite(fraction)) in->broken = 1;
    return in->broken ? 0 : fraction;
}

/* Whole seconds since 1970, of an instant since then. */
static inline uint64_t read_instant(input *in)
{
    uint64_t head = read_number(in, 2);
    if (head == 0xd6ff) return read_number(in, 4);
    if (head != 0xd7ff) in->broken = 1;
    uint64_t both = read_number(in, 8);
    if (both >> 34 >= 1000000000) in->broken = 1;
    return both & (((uint64_t)1 << 34) - 1);
}

/* Reads what comes next up to its content: so many bytes or members of it follow. */
static inline kind read_head(input *in, uint64_t *size)
{
    const uint64_t first = read_number(in, 1);
    *size = 0;
    if (first < 0x80 || first >= 0xe0) return OTHER;
    if (first < 0x90) return *size = first & 15, MAP;
    if (first < 0xa0) return *size = first & 15, ARRAY;
    if (first < 0xc0) return *size = first & 31, TEXT;
    switch (first) {
    case 0xc4: case 0xc5: case 0xc6: return *size = read_number(in, 1 << (first - 0xc4)), BYTES;
    case 0xc7: case 0xc8: case 0xc9: return *size = read_number(in, 1 << (first - 0xc7)) + 1, BYTES;
    case 0xca: case 0xce: case 0xd2: return *size = 4, BYTES;
    case 0xcb: case 0xcf: case 0xd3: return *size = 8, BYTES;
    case 0xcc: case 0xd0: return *size = 1, BYTES;
    case 0xcd: case 0xd1: return *size = 2, BYTES;
    case 0xd4: case 0xd5: case 0xd6: case 0xd7: case 0xd8:
        return *size = ((uint64_t)1 << (first - 0xd4)) + 1, BYTES;
    case 0xd9: case 0xda: case 0xdb: return *size = read_number(in, 1 << (first - 0xd9)), TEXT;
    case 0xdc: case 0xdd: return *size = read_number(in, 2 << (first - 0xdc)), ARRAY;
    case 0xde: case 0xdf: return *size = read_number(in, 2 << (first - 0xde)), MAP;
    default: return OTHER;
    }
}

/* Passes whatever comes next, with all that is in it. */
static inline void skip(input *in, int depth)
{
    uint64_t size;
    kind next = read_head(in, &size);
    if (next == TEXT || next == BYTES) pass(in, size);
    if (next == MAP) size *= 2;
    if (next != ARRAY && next != MAP) return;
    if (depth >= DEPTH_MAX) in->broken = 1;
    for (; size && !in->broken; size--) skip(in, depth + 1);
}

#endif
