/* Sums of dealt attention, a list of sites after the other; bound by `window/adding.py`.
 * Each sum is added up in the order of the lists, one amount after the other, so that it
 * is the same to the last bit as NumPy's. */
#include <pthread.h>
#include <stdint.h>

enum { TOGETHER = 64, AHEAD = 3, LINE = 8, FETCHED = 512, THREADS_MAX = 8 };

/* starts: where each list begins among the sites. units: of each list; item_units: of each
 * item instead. seen: marks of sites, those of a list from seen_at on. The last three may
 * be none. */
typedef struct {
    int64_t lists;
    const int64_t *starts;
    const int32_t *counts, *sites;
    const int64_t *units, *item_units;
    uint8_t *seen;
    const int64_t *seen_at;
} lists;

/* at: where the weights of each list begin. step: 1 by rank, 0 where all get the same. */
typedef struct {
    int64_t measure;
    const double *table;
    const int64_t *at;
    int64_t step;
} weights;

/* code: of each site, its cell. percent: of each site, or none. width: cells of a unit.
 * sums: of unit after unit, of measure after measure, those of its cells. */
typedef struct {
    const int64_t *code;
    const double *percent;
    int64_t width, measures;
    double *sums;
} group;

/* Lists and what is dealt out to them. Two additions never deal out the same measure. */
typedef struct {
    const lists *in;
    const weights *dealt;
    int64_t dealt_count;
    const group *groups;
    int64_t group_count;
} addition;

/* Some items of list n, from its item `first` on. */
typedef struct {
    int64_t n, first, count;
    const int32_t *sites;
    const int64_t *item_units;
} items;

static void find_cells(const items *in, int64_t unit, const group *g, int64_t *cells,
                       double *factors)
{
    for (int64_t i = 0; i < in->count; i++) {
        const int64_t site = in->sites[i];
        const int64_t row = (in->item_units ? in->item_units[i] : unit) * g->measures;
        cells[i] = row * g->width + g->code[site];
        if (g->percent) factors[i] = g->percent[site];
    }
}

static void add_items(const items *in, int64_t unit, const weights *dealt, int64_t dealt_count,
                      const group *g)
{
    int64_t cells[TOGETHER];
    double factors[TOGETHER];
    find_cells(in, unit, g, cells, factors);
    for (const weights *d = dealt; d < dealt + dealt_count; d++) {
        const double *weight = d->table + d->at[in->n];
        double *sums = g->sums + d->measure * g->width;
        if (!d->step && *weight == 0) continue; /* 0 changes no sum */
        weight += d->step * in->first;
        for (int64_t i = 0; i < in->count; i++) {
            const double amount = weight[d->step * i];
            sums[cells[i]] += g->percent ? amount * factors[i] : amount;
        }
    }
}

/* The sums of a unit lie near each other, those of the next unit anywhere. */
static void fetch(const addition *a, int64_t unit)
{
    for (const group *g = a->groups; g < a->groups + a->group_count; g++)
        for (const weights *d = a->dealt; d < a->dealt + a->dealt_count; d++) {
            const double *first = g->sums + (unit * g->measures + d->measure) * g->width;
            const int64_t length = g->width < FETCHED ? g->width : FETCHED;
            for (int64_t at = 0; at < length; at += LINE) __builtin_prefetch(first + at, 1);
        }
}

static void *add(void *what)
{
    const addition *a = what;
    const lists *in = a->in;
    for (int64_t n = 0; n < in->lists; n++) {
        if (n + AHEAD < in->lists) fetch(a, in->units[n + AHEAD]);
        const int64_t begin = in->starts[n], count = in->counts[n];
        for (int64_t first = 0; first < count; first += TOGETHER) {
            const int64_t at = begin + first, left = count - first;
            const items some = {n, first, left < TOGETHER ? left : TOGETHER, in->sites + at,
                                in->item_units ? in->item_units + at : 0};
            for (const group *g = a->groups; g < a->groups + a->group_count; g++)
                add_items(&some, in->units[n], a->dealt, a->dealt_count, g);
        }
        if (in->seen)
            for (int64_t i = 0; i < count; i++) in->seen[in->seen_at[n] + in->sites[begin + i]] = 1;
    }
    return 0;
}

/* Each addition in a thread of its own, as they touch nothing in common; each has marks of
 * its own, too. */
void add_dealt(addition *additions, int64_t count)
{
    pthread_t threads[THREADS_MAX];
    int64_t begun = 0;
    for (; begun + 1 < count && begun < THREADS_MAX; begun++)
        if (pthread_create(threads + begun, 0, add, additions + begun)) break;
    for (int64_t one = begun; one < count; one++) add(additions + one);
    for (int64_t one = 0; one < begun; one++) pthread_join(threads[one], 0);
}
