/* SPDX-License-Identifier: MIT
 * Events that the program has not acknowledged, oldest first, and the turns they belong to. While
 * the window is full, the host delivers nothing, so that its queue and overflow policy apply. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec.h"

int64_t exec_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- turns ---- */

static void window_release_turn(struct tc_turn *turn)
{
    struct exec_turn *const t = turn->state;
    if (!t->is_listed || !t->is_done || t->n_open)
        return;
    LIST_REMOVE(t, next);
    t->is_listed = false;
}

void exec_window_record_turn(struct exec *e, struct tc_turn *turn, const struct tc_event *ev)
{
    struct exec_turn *const t = turn->state;
    if (!t->is_listed && !t->is_done) {
        t->turn = turn;
        t->is_listed = true;
        LIST_INSERT_HEAD(&e->turns, t, next);
    }
    if (ev->kind == TC_START)
        t->is_resumed = ((const struct tc_start *)ev->payload)->resumed;
    t->is_done = t->is_done || ev->kind == TC_DONE;
    window_release_turn(turn);
}

struct tc_turn *exec_window_find_turn(const struct exec *e, const char *id)
{
    const struct exec_turn *t;
    LIST_FOREACH (t, &e->turns, next)
        if (strcmp(t->turn->id, id) == 0)
            return t->turn;
    return NULL;
}

/* ---- the window ---- */

static size_t window_unread_bytes(const struct exec *e)
{
    return e->program.to.len - e->program.to.at;
}

bool exec_window_waits(const struct exec *e)
{
    return e->n_entries || window_unread_bytes(e);
}

void exec_window_update(struct exec *e)
{
    const bool is_full = !e->hello.is_known || e->n_entries >= e->hello.window ||
                         e->entry_bytes >= EXEC_WINDOW_BYTES ||
                         window_unread_bytes(e) >= EXEC_WINDOW_BYTES;
    if (is_full != e->is_paused)
        tc_pause(e->inst, is_full);
    e->is_paused = is_full;
}

static void window_free(struct exec_entry *entry)
{
    free(entry->line);
    free(entry);
}

static void window_append_entry(struct exec *e, struct exec_entry *entry)
{
    STAILQ_INSERT_TAIL(&e->entries, entry, next);
    e->n_entries++;
    e->entry_bytes += entry->len;
    ((struct exec_turn *)entry->turn->state)->n_open++;
}

int exec_window_add(struct exec *e, struct tc_turn *turn, const struct tc_event *ev)
{
    struct exec_entry *const entry = calloc(1, sizeof *entry);
    const int64_t hold = entry && e->hello.delivers ? tc_hold(turn) : 0;
    if (!entry || hold < 0) {
        free(entry);
        return -1;
    }
    *entry = (struct exec_entry){.n = ++e->last_event, .turn = turn, .hold = hold};
    exec_message_make_event(entry, ev);
    exec_message_queue(e, entry->line, entry->len);
    if (e->hello.delivers)
        window_append_entry(e, entry);
    else
        window_free(entry);
    exec_window_update(e);
    return 0;
}

/* May free the turn. */
static void window_finish(struct exec *e, struct exec_entry *entry, const char *failure)
{
    struct tc_turn *const turn = entry->turn;
    STAILQ_REMOVE(&e->entries, entry, exec_entry, next);
    e->n_entries--;
    e->entry_bytes -= entry->len;
    e->acked_ms = exec_now_ms();
    e->program.has_progressed = true;
    ((struct exec_turn *)turn->state)->n_open--;
    window_release_turn(turn);
    tc_release(turn, entry->hold, failure);
    window_free(entry);
}

static struct exec_entry *window_find(const struct exec *e, uint64_t n)
{
    struct exec_entry *entry;
    STAILQ_FOREACH (entry, &e->entries, next)
        if (entry->n == n)
            return entry;
    return NULL;
}

struct tc_turn *exec_window_turn_of(const struct exec *e, uint64_t n)
{
    const struct exec_entry *const entry = window_find(e, n);
    return entry ? entry->turn : NULL;
}

bool exec_window_ack(struct exec *e, uint64_t n, bool only)
{
    if (n == 0 || n > e->last_event)
        return false;
    /* Entries are ordered by their numbers. */
    for (struct exec_entry *entry = STAILQ_FIRST(&e->entries), *next; entry && entry->n <= n;
         entry = next) {
        next = STAILQ_NEXT(entry, next);
        if (entry->n == n || !only)
            window_finish(e, entry, NULL);
    }
    exec_window_update(e);
    return true;
}

bool exec_window_reject(struct exec *e, uint64_t n, const char *why)
{
    struct exec_entry *const entry = window_find(e, n);
    if (!entry)
        return false;
    window_finish(e, entry, why);
    exec_window_update(e);
    return true;
}

bool exec_window_nack(struct exec *e, uint64_t n, int64_t retry_ms)
{
    struct exec_entry *const entry = window_find(e, n);
    if (!entry)
        return false;
    entry->again_ms = exec_now_ms() + (retry_ms > 0 ? retry_ms : 1);
    return true;
}

void exec_window_resume(struct exec *e)
{
    struct exec_entry *entry;
    e->acked_ms = exec_now_ms();
    STAILQ_FOREACH (entry, &e->entries, next) {
        e->entry_bytes -= entry->len;
        exec_message_mark_resumed(entry);
        e->entry_bytes += entry->len;
        if (!entry->again_ms)
            exec_message_queue(e, entry->line, entry->len);
    }
    exec_window_update(e);
}

/* The program has requested the delay, so the time limit of acknowledgements restarts. */
void exec_window_resend(struct exec *e, int64_t now_ms)
{
    struct exec_entry *entry;
    STAILQ_FOREACH (entry, &e->entries, next) {
        if (!entry->again_ms)
            continue;
        e->acked_ms = now_ms;
        if (entry->again_ms > now_ms)
            continue;
        entry->again_ms = 0;
        exec_message_queue(e, entry->line, entry->len);
    }
    exec_window_update(e);
}

int64_t exec_window_due_ms(const struct exec *e)
{
    int64_t due = INT64_MAX;
    const struct exec_entry *entry;
    STAILQ_FOREACH (entry, &e->entries, next)
        if (entry->again_ms && entry->again_ms < due)
            due = entry->again_ms;
    return due;
}

void exec_window_discard(struct exec *e)
{
    for (struct exec_entry *entry; (entry = STAILQ_FIRST(&e->entries));) {
        STAILQ_REMOVE_HEAD(&e->entries, next);
        window_free(entry);
    }
}
