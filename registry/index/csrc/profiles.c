/* What encoded profiles contribute to ranking, in columns; bound by `reading.py`, which
 * tells what the arrays are. Only the form in which the registry writes profiles is read:
 * MessagePack of all members in their order, each as short as can be. Of any other form it
 * is told, and it is parsed elsewhere. Nothing is read beyond its end. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "msgpack.h"
#include "said.h"

enum { PLAIN, OTHER_POLICY, OTHER_FORM };
enum { FIELDS = 4, MEMBERS = 21, PROBES = 5, EMBEDDING = 64 };
enum { LOCAL = 1, HIGHER_TIER = 2, LETTERS_MAX = 200,
       KEYWORD_MAX = 32 + 4 * LETTERS_MAX, RECIPROCAL_BITS = 16, NO_MEMORY = -2 };

#define RADIUS_UNITS 8000000.0
#define RADIANS (3.14159265358979323846 / 180.0)

static const char *const NAMES[] = {"category",   "country",       "format", "conformance",
                                    "permission", "requires_auth", "action", "language"};

/* weights: of action names, descriptions, parameters and the site. */
typedef struct {
    const uint8_t *policy;
    int64_t policy_bytes, weights[FIELDS], k1, b, pivot, full, impact_full, keyword_impact;
} rules;

typedef struct {
    int64_t *site_ids, *publishers, *lengths;
    uint16_t *depth, *quality, *reciprocals;
    uint32_t *changed_s;
    uint8_t *flags, *embeddings, *status, *impacts;
    int32_t *vectors;
    uint64_t *hashes;
} columns;

/* ---- terms ---- */

/* As most are: short, and spelled in ASCII. Else nothing is read. */
static inline int read_plain_word(input *in, words *w, uint32_t fields)
{
    waiting *one = &w->waiting[w->waits];
    if (in->end - in->at <= SHORT || (*in->at & 0xe0) != 0xa0) return 0;
    *one = (waiting){{0}, in->at + 1, NULL, *in->at & 31, fields};
    spell(one->spelled, one->bytes, one->length);
    if (!is_ascii(one->spelled)) return 0;
    ask_for_slot(w, one);
    in->at += 1 + one->length;
    if (++w->waits == WAITING) hear_waiting(w);
    return 1;
}

static void read_words(input *in, words *w, int field)
{
    uint32_t fields = 1u << field;
    for (uint64_t left = read_array(in); left && !in->broken; left--) {
        if (read_plain_word(in, w, fields)) continue;
        text word = read_text(in);
        wait_for(w, word.bytes, word.length, fields);
    }
}

/* A field and a value; returns the length. */
static int64_t spell_keyword(uint8_t *spelled, int field, text value)
{
    size_t name = strlen(NAMES[field]) + 1; /* and a zero */
    memcpy(spelled, NAMES[field], name);
    memcpy(spelled + name, value.bytes, (size_t)value.length);
    return (int64_t)name + value.length;
}

/* Whether it is known. */
static int offer_keyword(words *w, int field, text value)
{
    int64_t letters = 0;
    for (int64_t i = 0; i < value.length; i++) letters += (value.bytes[i] & 0xc0) != 0x80;
    if (!letters || letters > LETTERS_MAX) return 0;
    uint8_t spelled[KEYWORD_MAX];
    say_keyword(w, spelled, spell_keyword(spelled, field, value), field);
    return 1;
}

static void close_keywords(words *w, int field, int known)
{
    if (!known) tag(w, w->unknown[field]);
}

static void read_keyword(input *in, words *w, int field)
{
    text value = read_text(in);
    if (!in->broken) close_keywords(w, field, offer_keyword(w, field, value));
}

static void read_keywords(input *in, words *w, int field)
{
    int known = 0;
    for (uint64_t left = read_array(in); left && !in->broken; left--) {
        text value = read_text(in);
        if (!in->broken) known |= offer_keyword(w, field, value);
    }
    close_keywords(w, field, known);
}

static void read_truths(input *in, words *w, int field)
{
    int known = 0;
    for (uint64_t left = read_array(in); left && !in->broken; left--) {
        text value = read_truth(in) ? (text){(const uint8_t *)"true", 4}
                                    : (text){(const uint8_t *)"false", 5};
        known |= offer_keyword(w, field, value);
    }
    close_keywords(w, field, known);
}

static void read_actions(input *in, words *w)
{
    for (uint64_t left = read_array(in); left && !in->broken; left--) {
        expect_map(in, FIELDS);
        expect_key(in, "name");
        read_text(in);
        expect_key(in, "name_terms"), read_words(in, w, 0);
        expect_key(in, "description_terms"), read_words(in, w, 1);
        expect_key(in, "parameter_terms"), read_words(in, w, 2);
    }
}

static int64_t weight_of(uint32_t fields, const rules *r)
{
    int64_t sum = 0;
    for (int field = 0; field < FIELDS; field++)
        if (fields >> field & 1) sum += r->weights[field];
    return sum;
}

/* See `relevance.impacts`. */
static uint8_t impact_of(int64_t weight, int64_t damped, const rules *r)
{
    int64_t scaled = weight * r->full * r->pivot;
    int64_t impact = r->impact_full * scaled / (scaled + damped);
    return (uint8_t)(impact < 1 ? 1 : impact);
}

/* weights: of each set of fields. */
static void write_terms(const words *w, const rules *r, const int64_t *weights, uint64_t *hashes,
                        uint8_t *impacts)
{
    int64_t length = 0;
    uint8_t found[1 << FIELDS] = {(uint8_t)r->keyword_impact};
    for (int64_t i = 0; i < w->count; i++) length += weights[w->said[i].fields];
    int64_t damped = r->k1 * ((r->full - r->b) * r->pivot + r->b * length);
    for (int64_t i = 0; i < w->count; i++) {
        uint32_t fields = w->said[i].fields;
        if (!found[fields]) found[fields] = impact_of(weights[fields], damped, r);
        hashes[i] = w->said[i].hash;
        impacts[i] = found[fields];
    }
}

/* ---- profiles ---- */

static int half_of(uint8_t byte) { return (int8_t)(byte << 4) >> 4; }

/* See `vectors.reciprocals`. The root of less than 2^35 is right but for its last place. */
static uint16_t reciprocal_of(const uint8_t *embedding)
{
    int64_t square = 0;
    for (int i = 0; i < EMBEDDING; i++) {
        int even = half_of(embedding[i]), odd = (int8_t)embedding[i] >> 4;
        square += even * even + odd * odd;
    }
    if (!square) return 0;
    int64_t from = ((int64_t)1 << (2 * RECIPROCAL_BITS + 2)) / square;
    int64_t root = (int64_t)sqrt((double)from);
    while (root * root > from) root--;
    while ((root + 1) * (root + 1) <= from) root++;
    int64_t rounded = (root + 1) / 2;
    return (uint16_t)(rounded > UINT16_MAX ? UINT16_MAX : rounded);
}

static int read_point(input *in, int32_t *vector)
{
    memset(vector, 0, 3 * sizeof *vector);
    if (is_nil(in)) return 0;
    expect_map(in, 2);
    expect_key(in, "latitude");
    double latitude = read_fraction(in) * RADIANS;
    expect_key(in, "longitude");
    double longitude = read_fraction(in) * RADIANS;
    vector[0] = (int32_t)rint(cos(latitude) * cos(longitude) * RADIUS_UNITS);
    vector[1] = (int32_t)rint(cos(latitude) * sin(longitude) * RADIUS_UNITS);
    vector[2] = (int32_t)rint(sin(latitude) * RADIUS_UNITS);
    return 1;
}

static uint16_t read_factor(input *in)
{
    int64_t factor = read_natural(in);
    if (factor > UINT16_MAX) in->broken = 1;
    return (uint16_t)factor;
}

static void pass_probes(input *in)
{
    expect_map(in, PROBES);
    expect_key(in, "probes"), read_natural(in);
    expect_key(in, "answers"), read_natural(in);
    expect_key(in, "successes"), read_natural(in);
    expect_key(in, "median_ms");
    if (!is_nil(in)) read_natural(in);
    expect_key(in, "observed_at");
    if (!is_nil(in)) read_instant(in);
}

/* Up to the policy, which decides whether the rest is looked at. */
static int is_of_policy(input *in, const rules *r)
{
    expect_map(in, MEMBERS);
    expect_key(in, "policy");
    text policy = read_text(in);
    return policy.length == r->policy_bytes &&
           !memcmp(policy.bytes, r->policy, (size_t)policy.length);
}

static void read_about(input *in, columns *c, int64_t row, words *w)
{
    expect_key(in, "site_id"), c->site_ids[row] = read_natural(in);
    expect_key(in, "publisher"), c->publishers[row] = read_natural(in);
    expect_key(in, "category"), read_keyword(in, w, CATEGORY);
    expect_key(in, "country"), read_keyword(in, w, COUNTRY);
    expect_key(in, "formats"), read_keywords(in, w, FORMAT);
    expect_key(in, "point");
    int is_located = read_point(in, &c->vectors[3 * row]);
    expect_key(in, "local");
    c->flags[row] = read_truth(in) && is_located ? LOCAL : 0;
}

static void read_said(input *in, columns *c, int64_t row, words *w)
{
    expect_key(in, "site_terms"), read_words(in, w, FIELDS - 1);
    expect_key(in, "actions"), read_actions(in, w);
    expect_key(in, "embedding");
    if (read_number(in, 2) != (0xc400 | EMBEDDING)) in->broken = 1;
    const uint8_t *embedding = pass(in, EMBEDDING);
    if (in->broken) return;
    memcpy(&c->embeddings[EMBEDDING * row], embedding, EMBEDDING);
    c->reciprocals[row] = reciprocal_of(embedding);
}

static void read_factors(input *in, columns *c, int64_t row)
{
    expect_key(in, "capability_depth"), c->depth[row] = read_factor(in);
    expect_key(in, "quality"), c->quality[row] = read_factor(in);
    expect_key(in, "probes"), pass_probes(in);
    expect_key(in, "changed_at");
    uint64_t changed_s = read_instant(in);
    c->changed_s[row] = changed_s > UINT32_MAX ? UINT32_MAX : (uint32_t)changed_s;
    expect_key(in, "commission_tier");
    if (read_natural(in)) c->flags[row] |= HIGHER_TIER;
}

static void read_filters(input *in, words *w)
{
    expect_key(in, "conformance"), read_keyword(in, w, CONFORMANCE);
    expect_key(in, "permissions"), read_keywords(in, w, PERMISSION);
    expect_key(in, "requires_auth"), read_truths(in, w, REQUIRES_AUTH);
    expect_key(in, "action_names"), read_keywords(in, w, ACTION);
    expect_key(in, "languages"), read_keywords(in, w, LANGUAGE);
}

static int read_profile(input *in, const rules *r, columns *c, int64_t row, words *w)
{
    w->count = w->tagged = w->waits = w->repeats = 0, w->profile++;
    int is_own = is_of_policy(in, r);
    read_about(in, c, row, w);
    read_said(in, c, row, w);
    hear_waiting(w);
    read_factors(in, c, row);
    read_filters(in, w);
    if (in->broken || in->at != in->end) return OTHER_FORM;
    if (!is_own) return OTHER_POLICY;
    memcpy(w->said + w->count, w->tags, (size_t)w->tagged * sizeof(token));
    w->count += w->tagged;
    if (w->repeats) drop_repeated(w);
    return PLAIN;
}

/* From a memory of slots and of a line of the cache besides. read: profiles that were. */
static int open_words(words *w, uint8_t *memory, int64_t read, int64_t longest)
{
    size_t room = ((size_t)longest + 16) * sizeof(token);
    memset(w, 0, sizeof *w);
    w->slots = (slot *)(((uintptr_t)memory + sizeof(slot) - 1) & ~(uintptr_t)(sizeof(slot) - 1));
    w->said = malloc(room), w->tags = malloc(room), w->spare = malloc(room);
    w->profile = (uint32_t)read;
    if (!w->said || !w->tags || !w->spare) return 0;
    for (int field = 0; field < KEYWORDS; field++) {
        uint8_t spelled[KEYWORD_MAX];
        int64_t length = spell_keyword(spelled, field, (text){(const uint8_t *)"", 0});
        w->unknown[field] = marked(hash_bytes(spelled, length), field);
    }
    return 1;
}

static void close_words(words *w) { free(w->said), free(w->tags), free(w->spare); }

/* Returns how many terms there are, or NO_MEMORY. There is room for as many as there are
 * bytes, and for eight more a profile; longest: bytes of one. memory, read: see
 * `open_words`. */
int64_t read_profiles(const uint8_t *content, const int64_t *starts, const int64_t *lengths,
                      int64_t count, int64_t longest, uint8_t *memory, int64_t read,
                      const rules *r, columns *c)
{
    int64_t weights[1 << FIELDS], terms = 0;
    words w;
    for (uint32_t fields = 0; fields < 1 << FIELDS; fields++) weights[fields] = weight_of(fields, r);
    if (!open_words(&w, memory, read, longest)) terms = NO_MEMORY, count = 0;
    for (int64_t row = 0; row < count; row++) {
        const uint8_t *own = content + starts[row];
        input in = {own, own + lengths[row], 0};
        c->status[row] = (uint8_t)read_profile(&in, r, c, row, &w);
        c->lengths[row] = c->status[row] == PLAIN ? w.count : 0;
        if (c->status[row] != PLAIN) continue;
        write_terms(&w, r, weights, c->hashes + terms, c->impacts + terms);
        terms += w.count;
    }
    close_words(&w);
    return terms;
}
