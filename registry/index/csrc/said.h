/* The terms that a profile says: what they hash to, and each once, where it is said first.
 * The same terms come again and again, so few are hashed. */
#ifndef SAID_H
#define SAID_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "blake2b.h"

enum { CATEGORY, COUNTRY, FORMAT, CONFORMANCE, PERMISSION, REQUIRES_AUTH, ACTION, LANGUAGE,
       KEYWORDS };
enum { SLOT_BITS = 18, SPELLED = 4, SHORT = 8 * SPELLED, HASH_BYTES = 8, FIELD_BITS = 31 };
enum { WAITING = 64 };

#define KEYWORD 0x80000000u
#define REPEATED UINT32_MAX

typedef struct {
    uint64_t hash;
    uint32_t fields; /* a bit each */
    uint32_t place;  /* while repeated ones are looked for */
} token;

/* What a term of up to SHORT bytes hashes to, where no other took its slot since. profile,
 * place: which profile said it last, and where in `words.said`. */
typedef struct {
    uint64_t spelled[SPELLED], hash;
    uint32_t length; /* plus 1, and KEYWORD for one; 0 where nothing is */
    uint32_t profile, place;
    uint32_t unused[3]; /* to a whole line of the cache */
} slot;

/* A word whose slot is on its way from memory, or that has none. */
typedef struct {
    uint64_t spelled[SPELLED];
    const uint8_t *bytes;
    slot *own;
    uint32_t length, fields;
} waiting;

/* tags: keywords, to stand behind the words. spare: room to sort said. profile: a number of
 * its own, from 1. repeats: whether a term may be told of twice. unknown: the keyword of each
 * field without a value. */
typedef struct {
    slot *slots;
    token *said, *tags, *spare;
    int64_t count, tagged;
    uint32_t profile;
    int repeats;
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

/* Has the slot hold a term of up to SHORT bytes. kind: KEYWORD or 0. */
static inline void fill(words *w, slot *own, const uint64_t *spelled, const uint8_t *bytes,
                        uint32_t length, uint32_t kind)
{
    uint64_t differs = own->length ^ ((length + 1) | kind);
    for (int i = 0; i < SPELLED; i++) differs |= own->spelled[i] ^ spelled[i];
    if (!differs) return;
    if (own->profile == w->profile) w->repeats = 1; /* who was there may come again */
    memcpy(own->spelled, spelled, sizeof own->spelled);
    own->hash = hash_bytes(bytes, length);
    own->length = (length + 1) | kind;
    own->profile = 0;
}

static void say(words *w, uint64_t hash, uint32_t fields)
{
    w->said[w->count++] = (token){hash & ~(uint64_t)1, fields, 0};
}

static inline void say_word(words *w, const waiting *one)
{
    slot *own = one->own;
    if (!own) {
        w->repeats = 1;
        say(w, hash_bytes(one->bytes, one->length), one->fields);
        return;
    }
    fill(w, own, one->spelled, one->bytes, one->length, 0);
    if (own->profile == w->profile) {
        w->said[own->place].fields |= one->fields;
        return;
    }
    own->profile = w->profile, own->place = (uint32_t)w->count;
    say(w, own->hash, one->fields);
}

static void hear_waiting(words *w)
{
    for (int i = 0; i < w->waits; i++) say_word(w, &w->waiting[i]);
    w->waits = 0;
}

static inline void ask_for_slot(words *w, waiting *one)
{
    one->own = slot_of(w->slots, one->spelled);
    __builtin_prefetch(one->own, 1);
}

/* A word wherever it lies. */
static void wait_for(words *w, const uint8_t *bytes, int64_t length, uint32_t fields)
{
    waiting *one = &w->waiting[w->waits];
    *one = (waiting){{0}, bytes, NULL, (uint32_t)length, fields};
    if (length <= SHORT) {
        uint8_t padded[SHORT] = {0};
        memcpy(padded, bytes, (size_t)length);
        spell(one->spelled, padded, length);
        ask_for_slot(w, one);
    }
    if (++w->waits == WAITING) hear_waiting(w);
}

static void tag(words *w, uint64_t hash) { w->tags[w->tagged++] = (token){hash, 0, 0}; }

/* The hash of a keyword tells its field. */
static inline uint64_t marked(uint64_t hash, int field)
{
    return (hash & ~(uint64_t)FIELD_BITS) | (uint64_t)(field << 1 | 1);
}

/* bytes: of its field and value. */
static void say_keyword(words *w, const uint8_t *bytes, int64_t length, int field)
{
    uint8_t padded[SHORT] = {0};
    uint64_t spelled[SPELLED];
    if (length > SHORT) {
        w->repeats = 1;
        tag(w, marked(hash_bytes(bytes, length), field));
        return;
    }
    memcpy(padded, bytes, (size_t)length);
    spell(spelled, padded, length);
    slot *own = slot_of(w->slots, spelled);
    fill(w, own, spelled, padded, (uint32_t)length, KEYWORD);
    if (own->profile == w->profile) return;
    own->profile = w->profile;
    tag(w, marked(own->hash, field));
}

/* ---- each once ---- */

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

static void swap_rooms(words *w)
{
    token *said = w->said;
    w->said = w->spare, w->spare = said;
}

/* Those that are alike stay in their order. */
static void sort_by_hash(words *w)
{
    for (int64_t width = 1; width < w->count; width *= 2) {
        merge_runs(w->said, w->spare, w->count, width);
        swap_rooms(w);
    }
}

/* Each term where it was said first. */
static void drop_repeated(words *w)
{
    int64_t count = w->count, kept = 0;
    for (int64_t i = 0; i < count; i++) w->said[i].place = (uint32_t)i;
    sort_by_hash(w);
    token *first = w->said;
    for (int64_t i = 0; i < count; i++) {
        token *own = &w->said[i];
        int is_first = !i || own->hash != first->hash;
        if (is_first) first = own;
        else w->spare[first->place].fields |= own->fields;
        w->spare[own->place] = (token){own->hash, own->fields, is_first ? own->place : REPEATED};
    }
    for (int64_t i = 0; i < count; i++)
        if (w->spare[i].place != REPEATED) w->said[kept++] = w->spare[i];
    w->count = kept;
}

#endif
