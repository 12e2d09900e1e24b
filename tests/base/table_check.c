/* SPDX-License-Identifier: MIT
 * Checks all pairs of a state and an event; a pair that must abort is checked in a separate
 * process. */
#include "base/table_check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap/tap.h"

static const struct state_transition *find_row(const struct state_table *t, unsigned state,
                                               unsigned event)
{
    for (size_t i = 0; i < t->row_count; i++)
        if (t->rows[i].state == state && t->rows[i].event == event)
            return &t->rows[i];
    return NULL;
}

/* The output of a process that makes the change and ends by SIGABRT; "" if it ends otherwise. */
static const char *said_before_abort(unsigned (*move)(unsigned state, unsigned event),
                                     unsigned state, unsigned event)
{
    static char said[512];
    int ends[2], status;
    if (pipe(ends) < 0)
        bail("no pipe");
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        move(state, event);
        _exit(0);
    }
    close(ends[1]);
    const ssize_t n = read(ends[0], said, sizeof said - 1);
    said[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? said : "";
}

static bool refuses(const struct state_table *t, unsigned (*move)(unsigned state, unsigned event),
                    unsigned state, unsigned event)
{
    char wanted[200];
    snprintf(wanted, sizeof wanted, "%s: event %s in state %s", t->name, t->events[event],
             t->states[state]);
    return strstr(said_before_abort(move, state, event), wanted);
}

static void check_pairs(const struct state_table *t,
                        unsigned (*move)(unsigned state, unsigned event))
{
    for (unsigned state = 0; state < t->state_count; state++)
        for (unsigned event = 0; event < t->event_count; event++) {
            const struct state_transition *const row = find_row(t, state, event);
            if (row)
                is_int(move(state, event), row->next, "%s: %s on %s leads to %s", t->name,
                       t->states[state], t->events[event], t->states[row->next]);
            else
                ok(refuses(t, move, state, event), "%s: %s on %s is refused", t->name,
                   t->states[state], t->events[event]);
        }
}

static bool is_listed_once(const struct state_table *t)
{
    for (size_t i = 0; i < t->row_count; i++)
        if (find_row(t, t->rows[i].state, t->rows[i].event) != &t->rows[i])
            return false;
    return true;
}

static size_t count_reached(const struct state_table *t, unsigned first)
{
    bool reached[256] = {false}, more = true;
    size_t n = 0;
    reached[first] = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < t->row_count; i++)
            if (reached[t->rows[i].state] && !reached[t->rows[i].next])
                more = reached[t->rows[i].next] = true;
    }
    for (size_t i = 0; i < t->state_count; i++)
        n += reached[i];
    return n;
}

static bool has_way_out(const struct state_table *t, unsigned state)
{
    for (size_t i = 0; i < t->row_count; i++)
        if (t->rows[i].state == state)
            return true;
    return false;
}

static bool uses_event(const struct state_table *t, unsigned event)
{
    for (size_t i = 0; i < t->row_count; i++)
        if (t->rows[i].event == event)
            return true;
    return false;
}

void table_check(const struct state_table *t, unsigned (*move)(unsigned state, unsigned event),
                 unsigned first, unsigned ends)
{
    bool fits = true, used = true;
    check_pairs(t, move);
    ok(is_listed_once(t), "%s: no pair is listed twice", t->name);
    is_int((long long)count_reached(t, first), (long long)t->state_count,
           "%s: every state can be reached", t->name);
    for (unsigned i = 0; i < t->state_count; i++)
        fits = fits && has_way_out(t, i) == (i < t->state_count - ends);
    ok(fits, "%s: all except the final states have a transition", t->name);
    for (unsigned i = 0; i < t->event_count; i++)
        used = used && uses_event(t, i);
    ok(used, "%s: every event is possible in some state", t->name);
}
