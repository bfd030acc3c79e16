/* What encoded profiles contribute to ranking, in columns; bound by `reading.py`, which
 * tells what the arrays are. Only the form in which the registry writes profiles is read:
 * MessagePack of all members in their order, each as short as can be. Of any other form it
 * is told, and it is parsed elsewhere. Nothing is read beyond its end. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "blake2b.h"
#include "msgpack.h"

enum { PLAIN, OTHER_POLICY, OTHER_FORM };
enum { FIELDS = 4, MEMBERS = 21, PROBES = 5, EMBEDDING = 64, HASH_BYTES = 8 };
enum { CATEGORY, COUNTRY, FORMAT, CONFORMANCE, PERMISSION, REQUIRES_AUTH, ACTION, LANGUAGE };
enum { LOCAL = 1, HIGHER_TIER = 2, LETTERS_MAX = 200, KEYWORD_BITS = 31 };
enum { SLOTS = 1 << 17, SLOT_BYTES = 36 };
enum { NO_MEMORY = -2, RUN = 16 };

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
    uint16_t *depth, *quality;
    uint32_t *changed_s;
    uint8_t *flags, *embeddings, *status, *impacts;
    int32_t *vectors;
    uint64_t *hashes;
} columns;

typedef struct {
    uint64_t hash;
    uint32_t fields; /* a bit each */
} token;

/* What hashes to what, where no other took its slot since. */
typedef struct {
    uint64_t hash;
    uint32_t length; /* plus 1; 0 where nothing is */
    uint8_t bytes[SLOT_BYTES];
} slot;

/* spare: room to sort said. */
typedef struct {
    slot *slots;
    token *said, *spare;
    int64_t count;
} words;

/* The digest, its first byte the highest. */
static uint64_t hash_bytes(const uint8_t *bytes, int64_t length)
{
    uint64_t h[8], turned = 0;
    blake2b(h, HASH_BYTES, bytes, length);
    for (int i = 0; i < 8; i++) turned = turned << 8 | (h[0] >> 8 * i & 255);
    return turned;
}

/* ---- terms ---- */

/* As `hash_bytes`, which few have to be asked for: the same terms come again and again. */
static uint64_t hash_term(slot *slots, const uint8_t *bytes, int64_t length)
{
    uint64_t at = 0xcbf29ce484222325u;
    if (length > SLOT_BYTES) return hash_bytes(bytes, length);
    for (int64_t i = 0; i < length; i++) at = (at ^ bytes[i]) * 0x100000001b3u;
    slot *own = &slots[at >> 32 & (SLOTS - 1)];
    if (own->length != length + 1 || memcmp(own->bytes, bytes, (size_t)length)) {
        own->hash = hash_bytes(bytes, length);
        own->length = (uint32_t)length + 1;
        memcpy(own->bytes, bytes, (size_t)length);
    }
    return own->hash;
}

static void read_words(input *in, words *w, int field)
{
    for (uint64_t left = read_array(in); left && !in->broken; left--) {
        text word = read_text(in);
        uint64_t hash = hash_term(w->slots, word.bytes, word.length) & ~(uint64_t)1;
        w->said[w->count++] = (token){hash, 1u << field};
    }
}

static void add_keyword(words *w, int field, text value)
{
    uint8_t spelled[32 + 4 * LETTERS_MAX];
    size_t name = strlen(NAMES[field]) + 1; /* and a zero */
    memcpy(spelled, NAMES[field], name);
    memcpy(spelled + name, value.bytes, (size_t)value.length);
    uint64_t hash = hash_term(w->slots, spelled, (int64_t)name + value.length);
    hash = (hash & ~(uint64_t)KEYWORD_BITS) | (uint64_t)(field << 1 | 1);
    w->said[w->count++] = (token){hash, 0};
}

/* Whether it is known. */
static int offer_keyword(words *w, int field, text value)
{
    int64_t letters = 0;
    for (int64_t i = 0; i < value.length; i++) letters += (value.bytes[i] & 0xc0) != 0x80;
    if (!letters || letters > LETTERS_MAX) return 0;
    add_keyword(w, field, value);
    return 1;
}

static void close_keywords(words *w, int field, int known)
{
    if (!known) add_keyword(w, field, (text){(const uint8_t *)"", 0});
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
    static const char *const fields[] = {"name_terms", "description_terms", "parameter_terms"};
    for (uint64_t left = read_array(in); left && !in->broken; left--) {
        expect_map(in, FIELDS);
        expect_key(in, "name");
        read_text(in);
        for (int field = 0; field < FIELDS - 1 && !in->broken; field++) {
            expect_key(in, fields[field]);
            read_words(in, w, field);
        }
    }
}

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

static void sort_by_hash(words *w)
{
    insert_runs(w->said, w->count);
    for (int64_t width = RUN; width < w->count; width *= 2) {
        merge_runs(w->said, w->spare, w->count, width);
        token *sorted = w->spare;
        w->spare = w->said, w->said = sorted;
    }
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

static int64_t weight_of(token said, const rules *r)
{
    int64_t sum = 0;
    for (int field = 0; field < FIELDS; field++)
        if (said.fields >> field & 1) sum += r->weights[field];
    return sum;
}

/* See `relevance.impacts`. */
static void write_terms(const words *w, const rules *r, uint64_t *hashes, uint8_t *impacts)
{
    int64_t length = 0;
    for (int64_t i = 0; i < w->count; i++) length += weight_of(w->said[i], r);
    int64_t damped = r->k1 * ((r->full - r->b) * r->pivot + r->b * length);
    for (int64_t i = 0; i < w->count; i++) {
        int64_t scaled = weight_of(w->said[i], r) * r->full * r->pivot;
        int64_t impact = r->impact_full * scaled / (scaled + damped);
        if (impact < 1) impact = 1;
        hashes[i] = w->said[i].hash;
        impacts[i] = (uint8_t)(w->said[i].fields ? impact : r->keyword_impact);
    }
}

/* ---- profiles ---- */

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
    static const char *const counts[] = {"probes", "answers", "successes"};
    expect_map(in, PROBES);
    for (int i = 0; i < 3; i++) expect_key(in, counts[i]), read_natural(in);
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
    if (!in->broken) memcpy(&c->embeddings[EMBEDDING * row], embedding, EMBEDDING);
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
    w->count = 0;
    int is_own = is_of_policy(in, r);
    read_about(in, c, row, w);
    read_said(in, c, row, w);
    read_factors(in, c, row);
    read_filters(in, w);
    if (in->broken || in->at != in->end) return OTHER_FORM;
    if (!is_own) return OTHER_POLICY;
    merge(w);
    return PLAIN;
}

/* Returns how many terms there are, or NO_MEMORY. There is room for as many as there are
 * bytes, and for eight more a profile; longest: bytes of one. */
int64_t read_profiles(const uint8_t *content, const int64_t *starts, const int64_t *lengths,
                      int64_t count, int64_t longest, const rules *r, columns *c)
{
    int64_t terms = 0;
    size_t room = ((size_t)longest + 16) * sizeof(token);
    words w = {calloc(SLOTS, sizeof(slot)), malloc(room), malloc(room), 0};
    if (!w.slots || !w.said || !w.spare) terms = NO_MEMORY, count = 0;
    for (int64_t row = 0; row < count; row++) {
        const uint8_t *own = content + starts[row];
        input in = {own, own + lengths[row], 0};
        c->status[row] = (uint8_t)read_profile(&in, r, c, row, &w);
        c->lengths[row] = c->status[row] == PLAIN ? w.count : 0;
        if (c->status[row] != PLAIN) continue;
        write_terms(&w, r, c->hashes + terms, c->impacts + terms);
        terms += w.count;
    }
    free(w.slots), free(w.said), free(w.spare);
    return terms;
}
