/* What a report needs of packed rankings (`audit/packing.py`, form 1), many at a time;
 * bound by `ranking_bodies.py`. A body that is not exactly as those of today are is left
 * to Python, which reads all that can be read. Nothing is read beyond its end. */
#include <stdint.h>
#include <string.h>

enum { TEXT = 1, TEXT_MAX = 4096, DICTIONARY_MAX = 4096, CODE_BITS = 9, DIGITS_MAX = 18 };
enum { DIGEST_BYTES = 32, ULID_BYTES = 16, SITE_BYTES = 8, END_OF_BLOCK = 256 };

/* body b: lengths[b] bytes from bytes[at[b]] on. */
typedef struct {
    const uint8_t *bytes;
    const int64_t *at, *lengths;
    int64_t bodies;
    const uint8_t *dictionary;
    int64_t dictionary_length;
} packed;

/* Of each body: how many sites were eligible, how many it ranks, whose it is. orders: the
 * ids of the sites, one body after the other. An operator begins at operator_at in
 * operators, of which there is `room`; one that is a thumbprint is \1 and its 32 bytes. */
typedef struct {
    int64_t *eligible, *orders, *operator_at, *operator_length;
    int32_t *counts;
    uint8_t *operators;
    int64_t room;
} rankings;

typedef struct {
    const uint8_t *at, *end;
    uint64_t bits;
    int held;
} deflated;

typedef struct {
    uint16_t symbols[1 << CODE_BITS];
    uint8_t lengths[1 << CODE_BITS];
} codes;

static const uint16_t LENGTHS[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                   31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t LENGTH_BITS[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                      2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
static const uint16_t DISTANCES[] = {1,   2,   3,   4,   5,   7,    9,    13,   17,   25,  33,  49,
                                     65,  97,  129, 193, 257, 385,  513,  769,  1025, 1537, 2049, 3073};
enum { LENGTH_CODES = 29, DISTANCE_CODES = 24 }; /* farther than 4,096 nobody refers */

static uint32_t reverse(uint32_t code, int length)
{
    uint32_t reversed = 0;
    for (int i = 0; i < length; i++) reversed |= (code >> i & 1) << (length - 1 - i);
    return reversed;
}

/* The fixed codes of RFC 1951, 3.2.6, by the next nine bits. */
static void lay_out(codes *fixed)
{
    for (uint32_t symbol = 0; symbol < 288; symbol++) {
        const int length = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
        const uint32_t code = symbol < 144   ? 0x30 + symbol
                              : symbol < 256 ? 0x190 + symbol - 144
                              : symbol < 280 ? symbol - 256
                                             : 0xc0 + symbol - 280;
        for (uint32_t bits = reverse(code, length); bits < 1 << CODE_BITS; bits += 1u << length) {
            fixed->symbols[bits] = (uint16_t)symbol;
            fixed->lengths[bits] = (uint8_t)length;
        }
    }
}

static void refill(deflated *d)
{
    while (d->held <= 56 && d->at < d->end) {
        d->bits |= (uint64_t)*d->at++ << d->held;
        d->held += 8;
    }
}

/* Below 0 in `held` more was taken than there is. */
static uint32_t take(deflated *d, int count)
{
    const uint32_t taken = (uint32_t)(d->bits & ((1u << count) - 1));
    d->bits >>= count;
    d->held -= count;
    return taken;
}

/* Behind `begin`, before which the dictionary stands. How long the text is, -1 where it
 * is not one last block in fixed codes, or longer than there is room for. */
static int64_t inflate(const codes *fixed, deflated *d, uint8_t *begin, int64_t before)
{
    int64_t length = 0;
    refill(d);
    if (take(d, 3) != 3) return -1;
    for (;;) {
        refill(d);
        const uint32_t next = d->bits & ((1u << CODE_BITS) - 1);
        const uint32_t symbol = fixed->symbols[next];
        take(d, fixed->lengths[next]);
        if (d->held < 0) return -1;
        if (symbol == END_OF_BLOCK) return length;
        if (symbol < END_OF_BLOCK) {
            if (length == TEXT_MAX) return -1;
            begin[length++] = (uint8_t)symbol;
            continue;
        }
        const uint32_t run = symbol - END_OF_BLOCK - 1;
        if (run >= LENGTH_CODES) return -1;
        const int64_t copied = LENGTHS[run] + take(d, LENGTH_BITS[run]);
        const uint32_t code = reverse(take(d, 5), 5);
        if (code >= DISTANCE_CODES) return -1;
        const int64_t back = DISTANCES[code] + take(d, code < 4 ? 0 : (int)(code >> 1) - 1);
        if (d->held < 0 || back > before + length || length + copied > TEXT_MAX) return -1;
        for (int64_t i = 0; i < copied; i++, length++) begin[length] = begin[length - back];
    }
}

typedef struct {
    const uint8_t *at, *end;
    int broken;
} line;

static void pass(line *l, const char *said)
{
    const int64_t length = (int64_t)strlen(said);
    if (l->end - l->at < length || memcmp(l->at, said, (size_t)length)) l->broken = 1;
    else l->at += length;
}

static int begins(const line *l, const char *said)
{
    const int64_t length = (int64_t)strlen(said);
    return l->end - l->at >= length && !memcmp(l->at, said, (size_t)length);
}

/* How many runs of that mark a list has. */
static int64_t pass_runs(line *l, uint8_t mark)
{
    int64_t runs = 0;
    for (; l->at < l->end && (*l->at == mark || *l->at == '"' || *l->at == ','); l->at++)
        runs += *l->at == mark;
    return runs;
}

static int64_t pass_number(line *l)
{
    int64_t number = 0;
    const uint8_t *first = l->at;
    for (; l->at < l->end && *l->at >= '0' && *l->at <= '9' && l->at - first < DIGITS_MAX; l->at++)
        number = number * 10 + *l->at - '0';
    if (l->at == first) l->broken = 1;
    return number;
}

static int is_plain(uint8_t character)
{
    return character > ' ' && character < 0x7f && character != '"' && character != '\\';
}

typedef struct {
    codes fixed;
    uint8_t text[DICTIONARY_MAX + TEXT_MAX];
    int64_t sites, told; /* so far */
} state;

/* Whether there was room. */
static int tell_operator(rankings *out, state *s, int64_t b, const uint8_t *name, int64_t length,
                         const uint8_t *thumbprint)
{
    const int64_t spelled = thumbprint ? 1 + DIGEST_BYTES : length;
    if (s->told + spelled > out->room) return 0;
    uint8_t *told = out->operators + s->told;
    memcpy(told, name, (size_t)length);
    if (thumbprint) memcpy(told + 1, thumbprint, DIGEST_BYTES);
    out->operator_at[b] = s->told;
    out->operator_length[b] = spelled;
    s->told += spelled;
    return 1;
}

static void tell_order(rankings *out, state *s, int64_t b, const uint8_t *order, int64_t sites)
{
    for (int64_t i = 0; i < sites; i++) {
        uint64_t id = 0;
        for (int byte = 0; byte < SITE_BYTES; byte++) id = id << 8 | order[SITE_BYTES * i + byte];
        out->orders[s->sites++] = (int64_t)id;
    }
    out->counts[b] = (int32_t)sites;
}

/* Whether body b is one of those that are read here. */
static int read_one(const packed *in, state *s, int64_t b, rankings *out)
{
    const uint8_t *body = in->bytes + in->at[b], *end = body + in->lengths[b];
    if (end - body < 3 || body[0] != TEXT) return 0;
    const int64_t deflated_length = body[1] << 8 | body[2];
    if (end - body < 3 + deflated_length) return 0;
    const uint8_t *runs = body + 3 + deflated_length;
    deflated d = {body + 3, runs, 0, 0};
    uint8_t *text = s->text + in->dictionary_length;
    const int64_t length = inflate(&s->fixed, &d, text, in->dictionary_length);
    if (length < 0) return 0;
    line l = {text, text + length, 0};
    pass(&l, "{\"_sd\":[");
    runs += DIGEST_BYTES * pass_runs(&l, 1) + ULID_BYTES;
    pass(&l, "],\"_sd_alg\":\"sha-256\",\"id\":\"\2\",\"k\":");
    pass_number(&l);
    pass(&l, ",\"kind\":\"ranking\",\"n\":");
    out->eligible[b] = pass_number(&l);
    pass(&l, ",\"op\":\"");
    const uint8_t *name = l.at, *thumbprint = begins(&l, "\1\"") ? runs : 0;
    if (thumbprint) l.at++, runs += DIGEST_BYTES;
    else while (l.at < l.end && is_plain(*l.at)) l.at++;
    const int64_t name_length = l.at - name;
    pass(&l, "\"");
    if (begins(&l, ",\"opn\":")) {
        pass(&l, ",\"opn\":");
        pass_number(&l);
    }
    pass(&l, ",\"order\":[");
    const int64_t sites = pass_runs(&l, 3);
    pass(&l, "]");
    if (l.broken || !name_length || end - runs < SITE_BYTES * sites) return 0;
    if (!tell_operator(out, s, b, name, name_length, thumbprint)) return 0;
    tell_order(out, s, b, runs, sites);
    return 1;
}

/* How many were read: all, or those before the first that is of another form. */
int64_t read_rankings(const packed *in, rankings *out)
{
    state s;
    s.sites = s.told = 0;
    if (in->dictionary_length > DICTIONARY_MAX) return 0;
    memcpy(s.text, in->dictionary, (size_t)in->dictionary_length);
    lay_out(&s.fixed);
    for (int64_t b = 0; b < in->bodies; b++)
        if (!read_one(in, &s, b, out)) return b;
    return in->bodies;
}
