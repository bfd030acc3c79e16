/* Terms of a request in a profile, and the action that says most of them; bound by
 * `query/matching.py`. Of a profile, a MessagePack map, only `site_terms` and `actions`
 * are looked at. */
#include <string.h>

#include "msgpack.h"

enum { MALFORMED = -1, FIELDS = 3 };

/* term t: bytes[ends[t - 1]] up to bytes[ends[t]]. */
typedef struct {
    const uint8_t *bytes;
    const int64_t *ends;
    const int64_t *weights;
    int64_t terms;
    int64_t field_weights[FIELDS]; /* of an action's name, description, parameters */
} request;

/* best_at, best_length: the name of the best action; -1 where none matches. */
typedef struct {
    int64_t best_at, best_length, actions;
} matching;

static int is_named(text name, const char *known)
{
    return name.length == (int64_t)strlen(known) && !memcmp(name.bytes, known, strlen(known));
}

static int64_t find_term(const request *r, text term)
{
    int64_t begin = 0;
    for (int64_t t = 0; t < r->terms; begin = r->ends[t++])
        if (r->ends[t] - begin == term.length &&
            !memcmp(r->bytes + begin, term.bytes, (size_t)term.length))
            return t;
    return -1;
}

/* Marks the terms that come next and sums the weights of those of the request. */
static int64_t read_terms(input *in, const request *r, uint8_t *matched)
{
    int64_t sum = 0;
    for (uint64_t left = expect(in, ARRAY); left && !in->broken; left--) {
        int64_t term = find_term(r, read_text(in));
        if (term < 0 || in->broken) continue;
        matched[term] = 1;
        sum += r->weights[term];
    }
    return sum;
}

static int64_t read_action(input *in, const request *r, uint8_t *matched, text *name)
{
    static const char *const fields[FIELDS] = {"name_terms", "description_terms",
                                               "parameter_terms"};
    int64_t sum = 0;
    for (uint64_t left = expect(in, MAP); left && !in->broken; left--) {
        text member = read_text(in);
        int field = 0;
        while (field < FIELDS && !is_named(member, fields[field])) field++;
        if (field < FIELDS) sum += r->field_weights[field] * read_terms(in, r, matched);
        else if (is_named(member, "name")) *name = read_text(in);
        else skip(in, 0);
    }
    return sum;
}

static void read_actions(input *in, const uint8_t *body, const request *r, matching *out,
                         uint8_t *matched)
{
    int64_t most = 0;
    for (uint64_t left = expect(in, ARRAY); left && !in->broken; left--) {
        text name = {in->at, 0};
        int64_t sum = read_action(in, r, matched, &name);
        out->actions++;
        if (sum <= most) continue;
        most = sum;
        out->best_at = name.bytes - body;
        out->best_length = name.length;
    }
}

static int64_t match_profile(const uint8_t *body, int64_t size, const request *r,
                             matching *out, uint8_t *matched)
{
    input in = {body, body + size, 0};
    out->best_at = -1;
    out->best_length = out->actions = 0;
    for (uint64_t left = expect(&in, MAP); left && !in.broken; left--) {
        text member = read_text(&in);
        if (is_named(member, "site_terms")) read_terms(&in, r, matched);
        else if (is_named(member, "actions")) read_actions(&in, body, r, out, matched);
        else skip(&in, 0);
    }
    return in.broken ? MALFORMED : 0;
}

/* matched: a byte for each profile and term, all 0. Gives 0, or MALFORMED. */
int64_t match_profiles(const uint8_t *const *bodies, const int64_t *sizes, int64_t count,
                       const request *r, matching *out, uint8_t *matched)
{
    for (int64_t i = 0; i < count; i++)
        if (match_profile(bodies[i], sizes[i], r, out + i, matched + i * r->terms))
            return MALFORMED;
    return 0;
}
