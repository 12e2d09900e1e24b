/* SPDX-License-Identifier: MIT
 * Heap order: a node is never due before its parent, which is at half its index. */
#include "plugin/instance/wake_heap.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/invariant.h"

void wake_heap_fini(struct wake_heap *w)
{
    free(w->heap);
    *w = (struct wake_heap){0};
}

static void wake_heap_place(struct wake_heap *w, struct wake_node *wake, size_t at)
{
    ASSERT(at >= 1 && at <= w->cap);
    w->heap[at - 1] = wake;
    wake->at = at;
}

static int64_t wake_heap_due_at(const struct wake_heap *w, size_t at)
{
    return w->heap[at - 1]->due;
}

static size_t wake_heap_earlier_child(const struct wake_heap *w, size_t at)
{
    const size_t left = 2 * at;
    return left < w->count && wake_heap_due_at(w, left + 1) < wake_heap_due_at(w, left) ? left + 1
                                                                                        : left;
}

/* Moves the node to its position, starting at the free index `at`. */
static void wake_heap_restore_order(struct wake_heap *w, struct wake_node *wake, size_t at)
{
    for (; at > 1 && wake->due < wake_heap_due_at(w, at / 2); at /= 2)
        wake_heap_place(w, w->heap[at / 2 - 1], at);
    for (size_t child; 2 * at <= w->count; at = child) {
        child = wake_heap_earlier_child(w, at);
        if (wake->due <= wake_heap_due_at(w, child))
            break;
        wake_heap_place(w, w->heap[child - 1], at);
    }
    wake_heap_place(w, wake, at);
}

void wake_heap_set(struct wake_heap *w, struct wake_node *wake, int64_t due)
{
    if (!wake->at) {
        w->heap = alloc_grow(w->heap, w->count, &w->cap, sizeof(struct wake_node *));
        wake_heap_place(w, wake, ++w->count);
    }
    wake->due = due;
    wake_heap_restore_order(w, wake, wake->at);
}

void wake_heap_remove(struct wake_heap *w, struct wake_node *wake)
{
    const size_t at = wake->at;
    if (!at)
        return;
    ASSERT(at <= w->count && w->heap[at - 1] == wake);
    struct wake_node *const last = w->heap[--w->count];
    wake->at = 0;
    if (last != wake)
        wake_heap_restore_order(w, last, at);
}

int64_t wake_heap_next_ms(const struct wake_heap *w)
{
    return w->count ? w->heap[0]->due : INT64_MAX;
}

struct wake_node *wake_heap_pop_due(struct wake_heap *w, int64_t now)
{
    if (wake_heap_next_ms(w) > now)
        return NULL;
    struct wake_node *const wake = w->heap[0];
    wake_heap_remove(w, wake);
    return wake;
}
