/* The best places so far. */
#ifndef PLACES_H
#define PLACES_H

#include <stdlib.h>

#include "factors.h"

enum { FEW = 8 };

/* least: the standing of the k-th place, or -1 while there are fewer. full_at: entries
 * at which it is found again, and what stands behind it dropped: after a few more, since
 * all bounds are held against it, and a part more where many are equal. */
typedef struct {
    candidate *list;
    int64_t count, capacity, full_at, k, least;
} places;

static int by_standing(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->standing != y->standing) return x->standing < y->standing ? 1 : -1;
    if (x->leader != y->leader) return x->leader < y->leader ? -1 : 1;
    if (x->segment != y->segment) return x->segment < y->segment ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int by_leader(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->leader != y->leader) return x->leader < y->leader ? -1 : 1;
    return by_standing(a, b);
}

/* Sites that share a place stand at the best of them; its equals stay, for the tie. */
static void drop_followers(places *p)
{
    int64_t kept = 0, best = 0;
    qsort(p->list, (size_t)p->count, sizeof *p->list, by_leader);
    for (int64_t i = 0; i < p->count; i++) {
        const candidate *one = &p->list[i];
        if (!i || one->leader != p->list[i - 1].leader) best = one->standing;
        if (!one->leader || one->standing == best) p->list[kept++] = *one;
    }
    p->count = kept;
}

/* Sort, find the k-th place, drop what stands behind it. */
static void settle(places *p)
{
    drop_followers(p);
    qsort(p->list, (size_t)p->count, sizeof *p->list, by_standing);
    int64_t taken = 0, i = 0;
    for (; i < p->count; i++) {
        int shares = i && p->list[i].leader && p->list[i].leader == p->list[i - 1].leader;
        if (!shares && ++taken == p->k) break;
    }
    if (i >= p->count) return;
    p->least = p->list[i].standing;
    while (i < p->count && p->list[i].standing == p->least) i++;
    p->count = i;
}

/* 0 where there is no room left. */
static int add(places *p, const candidate *one)
{
    if (one->standing < p->least) return 1;
    if (p->count == p->full_at) {
        settle(p);
        p->full_at = least_of(p->capacity, p->count + FEW + p->count / 4);
        if (one->standing < p->least) return 1;
        if (p->count == p->capacity) return 0;
    }
    p->list[p->count++] = *one;
    return 1;
}

#endif
