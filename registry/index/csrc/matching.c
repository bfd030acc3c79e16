/* Which terms of a request a profile says, and which of its actions says most of it;
 * bound by `matching.py`. A profile is MessagePack: a map, of which only `site_terms` and
 * `actions` are looked at. Nothing is read beyond its end, whatever it says. */
#include <stdint.h>
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
} wanted;

/* best_at, best_length: the name of the best action; -1 where none says any. */
typedef struct {
    int64_t best_at, best_length, actions;
} matching;

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
static int64_t read_terms(input *in, const wanted *w, uint8_t *said)
{
    int64_t sum = 0;
    for (uint64_t left = read_array(in); left && !in->broken; left--) {
        int64_t term = find_wanted(w, read_text(in));
        if (term < 0 || in->broken) continue;
        said[term] = 1;
        sum += w->weights[term];
    }
    return sum;
}

static int64_t read_action(input *in, const wanted *w, uint8_t *said, text *name)
{
    static const char *const fields[FIELDS] = {"name_terms", "description_terms",
                                               "parameter_terms"};
    int64_t sum = 0;
    for (uint64_t left = read_map(in); left && !in->broken; left--) {
        text member = read_text(in);
        int field = 0;
        while (field < FIELDS && !is_named(member, fields[field])) field++;
        if (field < FIELDS) sum += w->field_weights[field] * read_terms(in, w, said);
        else if (is_named(member, "name")) *name = read_text(in);
        else skip(in, 0);
    }
    return sum;
}

static void read_actions(input *in, const uint8_t *body, const wanted *w, matching *found,
                         uint8_t *said)
{
    int64_t most = 0;
    for (uint64_t left = read_array(in); left && !in->broken; left--) {
        text name = {in->at, 0};
        int64_t sum = read_action(in, w, said, &name);
        found->actions++;
        if (sum <= most) continue;
        most = sum;
        found->best_at = name.bytes - body;
        found->best_length = name.length;
    }
}

static int64_t match_profile(const uint8_t *body, int64_t size, const wanted *w,
                             matching *found, uint8_t *said)
{
    input in = {body, body + size, 0};
    found->best_at = -1;
    found->best_length = found->actions = 0;
    for (uint64_t left = read_map(&in); left && !in.broken; left--) {
        text member = read_text(&in);
        if (is_named(member, "site_terms")) read_terms(&in, w, said);
        else if (is_named(member, "actions")) read_actions(&in, body, w, found, said);
        else skip(&in, 0);
    }
    return in.broken ? MALFORMED : 0;
}

/* Of so many profiles. said: one a profile and term, all 0. Gives 0, or MALFORMED. */
int64_t match_profiles(const uint8_t *const *bodies, const int64_t *sizes, int64_t count,
                       const wanted *w, matching *found, uint8_t *said)
{
    for (int64_t i = 0; i < count; i++)
        if (match_profile(bodies[i], sizes[i], w, found + i, said + i * w->terms))
            return MALFORMED;
    return 0;
}
