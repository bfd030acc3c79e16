/* The best rows so far, those of one representative taken together. */
#ifndef TOP_K_H
#define TOP_K_H

#include <stdlib.h>

#include "factors.h"

enum { FEW = 32 }; /* entries beyond those that are needed */

/* least: what the k-th place has at least; -1 while there are fewer. grouped: entries that
 * share a place. full_at: entries at which it is found exactly. */
typedef struct {
    ranked_row *list;
    int64_t count, capacity, full_at, k, least, grouped;
} top_k;

static int by_rank_score(const void *a, const void *b)
{
    const ranked_row *x = a, *y = b;
    if (x->rank_score != y->rank_score) return x->rank_score < y->rank_score ? 1 : -1;
    if (x->representative != y->representative) return x->representative < y->representative ? -1 : 1;
    if (x->segment != y->segment) return x->segment < y->segment ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int by_representative(const void *a, const void *b)
{
    const ranked_row *x = a, *y = b;
    if (x->representative != y->representative) return x->representative < y->representative ? -1 : 1;
    return by_rank_score(a, b);
}

/* Sites that share a place stand at the best of them; its equals stay, for the tie. */
static void drop_followers(top_k *p)
{
    int64_t remaining = 0, best = 0;
    qsort(p->list, (size_t)p->count, sizeof *p->list, by_representative);
    for (int64_t i = 0; i < p->count; i++) {
        const ranked_row *entry = &p->list[i];
        if (!i || entry->representative != p->list[i - 1].representative) best = entry->rank_score;
        if (!entry->representative || entry->rank_score == best) p->list[remaining++] = *entry;
    }
    p->count = remaining;
}

static int64_t count_grouped(const top_k *p)
{
    int64_t count = 0;
    for (int64_t i = 0; i < p->count; i++) count += p->list[i].representative != 0;
    return count;
}

/* Sort, find the k-th place, drop what stands behind it. */
static void settle(top_k *p)
{
    drop_followers(p);
    qsort(p->list, (size_t)p->count, sizeof *p->list, by_rank_score);
    int64_t taken = 0, i = 0;
    for (; i < p->count; i++) {
        const int64_t representative = p->list[i].representative;
        int shares = i && representative && representative == p->list[i - 1].representative;
        if (!shares && ++taken == p->k) break;
    }
    if (i < p->count) {
        p->least = p->list[i].rank_score;
        while (i < p->count && p->list[i].rank_score == p->least) i++;
        p->count = i;
    }
    p->grouped = count_grouped(p);
    p->full_at = least_of(p->capacity, 2 * p->count + FEW);
}

/* 0 where there is no arena left. */
static int make_room(top_k *p)
{
    if (p->count == p->full_at) settle(p);
    return p->count < p->capacity;
}

/* In any order; 0 where there is no arena left. */
static int add(top_k *p, const ranked_row *entry)
{
    if (!make_room(p)) return 0;
    p->list[p->count++] = *entry;
    return 1;
}

/* In the order of rank_score, so that the k-th place is known at once, since all bounds are held
 * against it. Which entries share one is only found by `settle`: until then none of these
 * counts. 0 where there is no arena left. */
static int insert(top_k *p, const ranked_row *entry)
{
    if (entry->rank_score < p->least) return 1;
    if (!make_room(p)) return 0;
    int64_t at = p->count++, last;
    for (; at && p->list[at - 1].rank_score < entry->rank_score; at--) p->list[at] = p->list[at - 1];
    p->list[at] = *entry;
    p->grouped += entry->representative != 0;
    last = p->k - 1 + p->grouped;
    if (p->count <= last) return 1;
    p->least = p->list[last].rank_score;
    while (p->list[p->count - 1].rank_score < p->least)
        p->grouped -= p->list[--p->count].representative != 0;
    return 1;
}

#endif
