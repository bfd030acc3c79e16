/* MessagePack as our own encoder writes it, read as it comes: `in.broken` once something
 * else stands there, and then each size is 0. Nothing is read beyond the end. */
#ifndef MSGPACK_H
#define MSGPACK_H

#include <stdint.h>

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

/* Reads a head: so many bytes, or members, follow. */
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

/* The size of what has to come next. */
static inline uint64_t expect(input *in, kind wanted)
{
    uint64_t size;
    if (read_head(in, &size) != wanted) in->broken = 1;
    return in->broken ? 0 : size;
}

static inline const uint8_t *pass(input *in, uint64_t size)
{
    const uint8_t *at = in->at;
    if ((uint64_t)(in->end - in->at) < size) in->broken = 1;
    else in->at += size;
    return at;
}

static inline text read_text(input *in)
{
    uint64_t size = expect(in, TEXT);
    const uint8_t *at = pass(in, size);
    return (text){at, in->broken ? 0 : (int64_t)size};
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
