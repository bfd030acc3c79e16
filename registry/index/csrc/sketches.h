/* What rows score at most by their sketches: in groups, as columns of numbers, so that
 * several are bounded at a time. */
#ifndef SKETCHES_H
#define SKETCHES_H

#include "bounds.h"

enum { GROUP = 128 };

/* A row that its block's row bounds lets through. bound, lexical, apart: see `row_bounds.h`. */
typedef struct {
    uint32_t row;
    uint16_t bound, lexical, apart;
} candidate;

/* product: of the leading dimensions. bound: what it scores at most, by its sketch; apart:
 * of that, what is not meaning. */
typedef struct {
    uint32_t row;
    int32_t product;
    float bound, apart;
} close_row;

/* Of each row of a group: the products of its leading dimensions, what is beside them in its
 * sketch, the aspect of its block, what its row bounds found, and what it scores at most. */
typedef struct {
    int32_t product[GROUP], reciprocal[GROUP], rest_along[GROUP], rest_across[GROUP];
    int32_t lexical[GROUP], apart[GROUP];
    float along[GROUP], across[GROUP], more[GROUP], bound[GROUP];
} brief;

FOR_EACH_MACHINE
static void read_sketches(const run *r, const aspect *aspects, const candidate *group, int size,
                          brief *b)
{
    for (int i = 0; i < size; i++) {
        const sketch *row_sketch = &r->in->sketches[group[i].row];
        const aspect *own = &aspects[group[i].row / BLOCK_ROWS];
        b->product[i] = lead_product(row_sketch, &r->meant);
        b->reciprocal[i] = row_sketch->reciprocal;
        b->rest_along[i] = row_sketch->rest_along;
        b->rest_across[i] = row_sketch->rest_across;
        b->lexical[i] = group[i].lexical;
        b->apart[i] = group[i].apart;
        b->along[i] = own->along;
        b->across[i] = own->across;
        b->more[i] = own->more;
    }
}

/* What each row scores at most; 0 for those that are not eligible, or score less than least. */
FOR_EACH_MACHINE
static void bound_sketches(const run *r, float least, int size, brief *restrict b)
{
    const float weight = (float)r->request->weights[0], full = weight * FULL;
    const float gain = weight * r->cosine_gain, floor = weight * (float)r->request->floor;
    const float with_words = (float)r->request->meaning_min;
    const float alone = (float)r->request->meaning_only_min;
    const float slope = r->meaning_slope, most = r->cosine_most;
    for (int i = 0; i < size; i++) {
        float lead = (float)b->product[i] * (float)b->reciprocal[i] * slope;
        float rest = b->along[i] * (float)b->rest_along[i] + b->across[i] * (float)b->rest_across[i];
        float cosine = lead + rest + b->more[i];
        cosine = cosine > 0 ? cosine : 0;
        cosine = cosine < most ? cosine : most;
        float relevance = (float)b->lexical[i] * UNIT + gain * cosine + weight;
        relevance = relevance < full ? relevance : full;
        float bound = relevance + (float)b->apart[i] * UNIT + SLACK;
        int may_count = ((b->lexical[i] > 0) & (cosine >= with_words)) | (cosine >= alone);
        int holds = (bound >= least) & (relevance >= floor) & may_count;
        b->bound[i] = holds ? bound : 0;
    }
}

/* Those of a group of rows that hold by their sketches. */
static int narrow(const run *r, const aspect *aspects, const candidate *group, int size, float least,
                  close_row *out)
{
    brief b;
    int closest = 0;
    read_sketches(r, aspects, group, size, &b);
    bound_sketches(r, least, size, &b);
    for (int i = 0; i < size; i++) {
        if (b.bound[i] <= 0) continue;
        const record *site = &r->in->records[group[i].row];
        __builtin_prefetch(site);
        __builtin_prefetch(&site->changed_s);
        const float apart = (float)(group[i].lexical + group[i].apart) * UNIT + SLACK;
        out[closest++] = (close_row){group[i].row, b.product[i], b.bound[i], apart};
    }
    return closest;
}

#endif
