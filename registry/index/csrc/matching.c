/* Which terms of a request a profile says, and which of its actions says most of it;
 * bound by `matching.py`. A profile is MessagePack: a map, of which only `site_terms` and
 * `actions` are looked at. Nothing is read beyond its end, whatever it says. */
#include <stdint.h>
#include <string.h>

enum { MALFORMED = -1, DEPTH_MAX = 16, FIELDS = 3 };

/* term t: bytes[ends[t - 1]] up to bytes[ends[t]]. */
typedef struct {
    const uint8_t *bytes;
    const int64_t *ends;
    const int64_t *weights;
    int64_t terms;
    int64_t field_weights[FIELDS]; /* of an action's name, description, parameters */
} wanted;

/* best_at, best_length: the name of the best action; -1 where none says any. */
typedef struct {
    int64_t best_at, best_length, actions;
    uint8_t *said; /* one a term */
} matching;

typedef struct {
    const uint8_t *start, *at, *end;
    int broken;
} reader;

typedef struct {
    const uint8_t *bytes;
    int64_t length;
} text;

typedef enum { OTHER, TEXT, BYTES, ARRAY, MAP } kind;

static uint64_t read_number(reader *r, int bytes)
{
    uint64_t number = 0;
    if (r->end - r->at < bytes) {
        r->broken = 1;
        return 0;
    }
    for (int i = 0; i < bytes; i++) number = number << 8 | *r->at++;
    return number;
}

/* Reads what comes next up to its content: so many bytes or members of it follow. */
static kind read_head(reader *r, uint64_t *size)
{
    const uint64_t first = read_number(r, 1);
    *size = 0;
    if (first < 0x80 || first >= 0xe0) return OTHER;
    if (first < 0x90) return *size = first & 15, MAP;
    if (first < 0xa0) return *size = first & 15, ARRAY;
    if (first < 0xc0) return *size = first & 31, TEXT;
    switch (first) {
    case 0xc4: case 0xc5: case 0xc6: return *size = read_number(r, 1 << (first - 0xc4)), BYTES;
    case 0xc7: case 0xc8: case 0xc9: return *size = read_number(r, 1 << (first - 0xc7)) + 1, BYTES;
    case 0xca: case 0xce: case 0xd2: return *size = 4, BYTES;
    case 0xcb: case 0xcf: case 0xd3: return *size = 8, BYTES;
    case 0xcc: case 0xd0: return *size = 1, BYTES;
    case 0xcd: case 0xd1: return *size = 2, BYTES;
    case 0xd4: case 0xd5: case 0xd6: case 0xd7: case 0xd8:
        return *size = ((uint64_t)1 << (first - 0xd4)) + 1, BYTES;
    case 0xd9: case 0xda: case 0xdb: return *size = read_number(r, 1 << (first - 0xd9)), TEXT;
    case 0xdc: case 0xdd: return *size = read_number(r, 2 << (first - 0xdc)), ARRAY;
    case 0xde: case 0xdf: return *size = read_number(r, 2 << (first - 0xde)), MAP;
    default: return OTHER;
    }
}

static void pass_bytes(reader *r, uint64_t size)
{
    if ((uint64_t)(r->end - r->at) < size) r->broken = 1;
    else r->at += size;
}

static void pass(reader *r, int depth)
{
    uint64_t size;
    kind next = read_head(r, &size);
    if (next == TEXT || next == BYTES) pass_bytes(r, size);
    if (next == MAP) size *= 2;
    if (next != ARRAY && next != MAP) return;
    if (depth >= DEPTH_MAX) r->broken = 1;
    for (; size && !r->broken; size--) pass(r, depth + 1);
}

static text read_text(reader *r)
{
    uint64_t size;
    const uint8_t *at;
    if (read_head(r, &size) != TEXT) r->broken = 1;
    at = r->at;
    pass_bytes(r, size);
    return (text){at, r->broken ? 0 : (int64_t)size};
}

static uint64_t read_members(reader *r, kind of)
{
    uint64_t size;
    if (read_head(r, &size) != of) r->broken = 1;
    return r->broken ? 0 : size;
}

static int is_named(text name, const char *known)
{
    return name.length == (int64_t)strlen(known) && !memcmp(name.bytes, known, strlen(known));
}

static int64_t find_wanted(const wanted *w, text term)
{
    int64_t begin = 0;
    for (int64_t t = 0; t < w->terms; begin = w->ends[t++])
        if (w->ends[t] - begin == term.length &&
            !memcmp(w->bytes + begin, term.bytes, (size_t)term.length))
            return t;
    return -1;
}

/* Marks the terms that come next and sums the weights of those that are wanted. */
static int64_t read_terms(reader *r, const wanted *w, uint8_t *said)
{
    int64_t sum = 0;
    for (uint64_t left = read_members(r, ARRAY); left && !r->broken; left--) {
        int64_t term = find_wanted(w, read_text(r));
        if (term < 0 || r->broken) continue;
        said[term] = 1;
        sum += w->weights[term];
    }
    return sum;
}

static int64_t read_action(reader *r, const wanted *w, uint8_t *said, text *name)
{
    static const char *const fields[FIELDS] = {"name_terms", "description_terms",
                                               "parameter_terms"};
    int64_t sum = 0;
    for (uint64_t left = read_members(r, MAP); left && !r->broken; left--) {
        text member = read_text(r);
        int field = 0;
        while (field < FIELDS && !is_named(member, fields[field])) field++;
        if (field < FIELDS) sum += w->field_weights[field] * read_terms(r, w, said);
        else if (is_named(member, "name")) *name = read_text(r);
        else pass(r, 0);
    }
    return sum;
}

static void read_actions(reader *r, const wanted *w, matching *found)
{
    int64_t most = 0;
    for (uint64_t left = read_members(r, ARRAY); left && !r->broken; left--) {
        text name = {r->at, 0};
        int64_t sum = read_action(r, w, found->said, &name);
        found->actions++;
        if (sum <= most) continue;
        most = sum;
        found->best_at = name.bytes - r->start;
        found->best_length = name.length;
    }
}

/* `said` holds 0 for each term. Gives 0, or MALFORMED. */
int64_t match_profile(const uint8_t *body, int64_t size, const wanted *w, matching *found)
{
    reader r = {body, body, body + size, 0};
    found->best_at = -1;
    found->best_length = found->actions = 0;
    for (uint64_t left = read_members(&r, MAP); left && !r.broken; left--) {
        text member = read_text(&r);
        if (is_named(member, "site_terms")) read_terms(&r, w, found->said);
        else if (is_named(member, "actions")) read_actions(&r, w, found);
        else pass(&r, 0);
    }
    return r.broken ? MALFORMED : 0;
}
