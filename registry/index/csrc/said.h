/* The terms that a profile says: what they hash to, and each once, in the order of their
 * hashes. The same terms come again and again, so few are hashed. */
#ifndef SAID_H
#define SAID_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "blake2b.h"

enum { CATEGORY, COUNTRY, FORMAT, CONFORMANCE, PERMISSION, REQUIRES_AUTH, ACTION, LANGUAGE,
       KEYWORDS };
enum { SLOT_BITS = 18, SPELLED = 4, SHORT = 8 * SPELLED, HASH_BYTES = 8 };
enum { RUN = 16, BUCKET_BITS = 6, MOVES = 8, WAITING = 64 };

typedef struct {
    uint64_t hash;
    uint32_t fields; /* a bit each */
} token;

/* What a term of up to SHORT bytes hashes to, where no other took its slot since. profile,
 * place: which profile said it last, and where in `words.said`; it is no keyword then. */
typedef struct {
    uint64_t spelled[SPELLED], hash;
    uint32_t length; /* plus 1; 0 where nothing is */
    uint32_t profile, place;
    uint32_t unused[3]; /* to a whole line of the cache */
} slot;

/* A word whose slot is on its way from memory. */
typedef struct {
    uint64_t spelled[SPELLED];
    const uint8_t *bytes;
    slot *own;
    uint32_t length, fields;
} waiting;

/* spare: room to sort said. profile: a number of its own, from 1. unknown: the keyword of
 * each field without a value. */
typedef struct {
    slot *slots;
    token *said, *spare;
    int64_t count;
    uint32_t profile;
    uint64_t unknown[KEYWORDS];
    int waits;
    waiting waiting[WAITING];
} words;

/* The digest, its first byte the highest. */
static uint64_t hash_bytes(const uint8_t *bytes, int64_t length)
{
    uint64_t h[8], turned = 0;
    blake2b(h, HASH_BYTES, bytes, length);
    for (int i = 0; i < 8; i++) turned = turned << 8 | (h[0] >> 8 * i & 255);
    return turned;
}

/* Its bytes, then zeros. There are SHORT to read. */
static inline void spell(uint64_t *spelled, const uint8_t *bytes, int64_t length)
{
    for (int i = 0; i < SPELLED; i++) {
        int64_t left = length - 8 * i;
        uint64_t kept = left >= 8 ? UINT64_MAX : left <= 0 ? 0 : UINT64_MAX >> (64 - 8 * left);
        spelled[i] = read_little(bytes + 8 * i) & kept;
    }
}

static inline int is_ascii(const uint64_t *spelled)
{
    uint64_t all = 0;
    for (int i = 0; i < SPELLED; i++) all |= spelled[i];
    return !(all & 0x8080808080808080u);
}

static inline slot *slot_of(slot *slots, const uint64_t *spelled)
{
    static const uint64_t keys[SPELLED] = {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u,
                                           0x94d049bb133111ebu, 0xd6e8feb86659fd93u};
    uint64_t mixed = 0;
    for (int i = 0; i < SPELLED; i++) mixed += spelled[i] * keys[i];
    return &slots[(mixed ^ mixed >> 32) * keys[0] >> (64 - SLOT_BITS)];
}

/* The slot of a term of up to SHORT bytes, which few have to be hashed for: the same terms
 * come again and again. */
static inline slot *fill(slot *own, const uint64_t *spelled, const uint8_t *bytes,
                         int64_t length)
{
    uint64_t differs = (uint64_t)own->length ^ (uint64_t)(length + 1);
    for (int i = 0; i < SPELLED; i++) differs |= own->spelled[i] ^ spelled[i];
    if (differs) {
        memcpy(own->spelled, spelled, sizeof own->spelled);
        own->hash = hash_bytes(bytes, length);
        own->length = (uint32_t)length + 1;
        own->profile = 0;
    }
    return own;
}

/* As `hash_bytes`, wherever the term lies. */
static uint64_t hash_term(slot *slots, const uint8_t *bytes, int64_t length)
{
    uint8_t padded[SHORT] = {0};
    uint64_t spelled[SPELLED];
    if (length > SHORT) return hash_bytes(bytes, length);
    memcpy(padded, bytes, (size_t)length);
    spell(spelled, padded, length);
    return fill(slot_of(slots, spelled), spelled, padded, length)->hash;
}

static void say(words *w, uint64_t hash, uint32_t fields)
{
    w->said[w->count++] = (token){hash, fields};
}

static inline void say_term(words *w, slot *own, uint32_t fields)
{
    if (own->profile == w->profile) {
        w->said[own->place].fields |= fields;
        return;
    }
    own->profile = w->profile, own->place = (uint32_t)w->count;
    say(w, own->hash & ~(uint64_t)1, fields);
}

static void hear_waiting(words *w)
{
    for (waiting *one = w->waiting; w->waits; one++, w->waits--)
        say_term(w, fill(one->own, one->spelled, one->bytes, one->length), one->fields);
}

/* ---- in order ---- */

/* Runs of twice the width of two that ascend. */
static void merge_runs(const token *from, token *to, int64_t count, int64_t width)
{
    for (int64_t start = 0; start < count; start += 2 * width) {
        int64_t middle = start + width < count ? start + width : count;
        int64_t end = middle + width < count ? middle + width : count;
        int64_t left = start, right = middle;
        for (int64_t i = start; i < end; i++) {
            int is_left = right == end || (left < middle && from[left].hash <= from[right].hash);
            to[i] = is_left ? from[left++] : from[right++];
        }
    }
}

static void insert_runs(token *said, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        token own = said[i];
        int64_t at = i, start = i & ~(int64_t)(RUN - 1);
        for (; at > start && said[at - 1].hash > own.hash; at--) said[at] = said[at - 1];
        said[at] = own;
    }
}

static void swap_rooms(words *w)
{
    token *said = w->said;
    w->said = w->spare, w->spare = said;
}

static void sort_by_merging(words *w)
{
    insert_runs(w->said, w->count);
    for (int64_t width = RUN; width < w->count; width *= 2) {
        merge_runs(w->said, w->spare, w->count, width);
        swap_rooms(w);
    }
}

/* By the first bits of their hashes, so that few are far from their places. */
static void scatter(words *w)
{
    uint32_t next[(1 << BUCKET_BITS) + 1] = {0};
    for (int64_t i = 0; i < w->count; i++) next[(w->said[i].hash >> (64 - BUCKET_BITS)) + 1]++;
    for (int i = 0; i < 1 << BUCKET_BITS; i++) next[i + 1] += next[i];
    for (int64_t i = 0; i < w->count; i++)
        w->spare[next[w->said[i].hash >> (64 - BUCKET_BITS)]++] = w->said[i];
    swap_rooms(w);
}

/* Whether it came to an end: not where many are far from their places, as hashes are that
 * somebody chose. */
static int insert_all(token *said, int64_t count)
{
    int64_t left = MOVES * count;
    for (int64_t i = 1; i < count && left >= 0; i++) {
        token own = said[i];
        int64_t at = i;
        for (; at && said[at - 1].hash > own.hash; at--, left--) said[at] = said[at - 1];
        said[at] = own;
    }
    return left >= 0;
}

static void sort_by_hash(words *w)
{
    scatter(w);
    if (!insert_all(w->said, w->count)) sort_by_merging(w);
}

/* Each term once, by its hash. */
static void merge(words *w)
{
    int64_t kept = 0;
    sort_by_hash(w);
    for (int64_t i = 0; i < w->count; i++) {
        if (kept && w->said[kept - 1].hash == w->said[i].hash)
            w->said[kept - 1].fields |= w->said[i].fields;
        else w->said[kept++] = w->said[i];
    }
    w->count = kept;
}

#endif
