/* The best places so far. */
#ifndef PLACES_H
#define PLACES_H

#include <stdlib.h>

#include "factors.h"

enum { FEW = 32 }; /* entries beyond those that are needed */

/* least: what the k-th place has at least; -1 while there are fewer. grouped: entries that
 * share a place. full_at: entries at which it is found exactly. */
typedef struct {
    candidate *list;
    int64_t count, capacity, full_at, k, least, grouped;
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

static int64_t count_grouped(const places *p)
{
    int64_t count = 0;
    for (int64_t i = 0; i < p->count; i++) count += p->list[i].leader != 0;
    return count;
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
    if (i < p->count) {
        p->least = p->list[i].standing;
        while (i < p->count && p->list[i].standing == p->least) i++;
        p->count = i;
    }
    p->grouped = count_grouped(p);
    p->full_at = least_of(p->capacity, 2 * p->count + FEW);
}

/* 0 where there is no room left. */
static int make_place(places *p)
{
    if (p->count == p->full_at) settle(p);
    return p->count < p->capacity;
}

/* In any order; 0 where there is no room left. */
static int add(places *p, const candidate *one)
{
    if (!make_place(p)) return 0;
    p->list[p->count++] = *one;
    return 1;
}

/* In the order of standing, so that the k-th place is known at once, since all bounds are held
 * against it. Which entries share one is only found by `settle`: until then none of these
 * counts. 0 where there is no room left. */
static int insert(places *p, const candidate *one)
{
    if (one->standing < p->least) return 1;
    if (!make_place(p)) return 0;
    int64_t at = p->count++, last;
    for (; at && p->list[at - 1].standing < one->standing; at--) p->list[at] = p->list[at - 1];
    p->list[at] = *one;
    p->grouped += one->leader != 0;
    last = p->k - 1 + p->grouped;
    if (p->count <= last) return 1;
    p->least = p->list[last].standing;
    while (p->list[p->count - 1].standing < p->least)
        p->grouped -= p->list[--p->count].leader != 0;
    return 1;
}

#endif
