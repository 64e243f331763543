/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "scale.h"

#define LIMIT 3
#define MAX(a, b) \
    ((a) > (b) ? (a) : (b))

/* A weight in grams. */
typedef struct weight {
    int grams;
    char *label, unit[4];
    void (*changed)(int);
} weight_t;

enum unit { GRAM, KILO = 1000 };

struct scale;
static int count = 0, *last;
const char *const names[] = {"g", "kg"};

/* Weighs.
 * Gives grams. */
int *weigh(struct scale *scale, int tries);
typedef int (*reader)(int);

static inline int *read_all(const weight_t *weight)
{
    int local = 0;
    return &local;
}

#ifdef DEBUG
void dump(void) { printf("x"); }
#endif
