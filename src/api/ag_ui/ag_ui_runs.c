/* SPDX-License-Identifier: MIT
 * Owns the list of legs, in the order of their runs. */
#include "api/ag_ui/ag_ui_runs.h"

#include <stdlib.h>
#include <string.h>

#include "api/turns/request_api.h"
#include "base/alloc.h"

struct ag_ui_legs {
    const struct turnlog *log;
    struct ag_ui_leg *first;
};

struct ag_ui_legs *ag_ui_runs_new(const struct turnlog *log)
{
    struct ag_ui_legs *const legs = xcalloc(1, sizeof *legs);
    legs->log = log;
    return legs;
}

static void ag_ui_runs_free_leg(struct ag_ui_leg *leg)
{
    open_calls_fini(&leg->asked);
    free(leg->thread);
    free(leg->run);
    free(leg->scope);
    free(leg);
}

void ag_ui_runs_free(struct ag_ui_legs *legs)
{
    while (legs && legs->first) {
        struct ag_ui_leg *const leg = legs->first;
        legs->first = leg->next;
        ag_ui_runs_free_leg(leg);
    }
    free(legs);
}

/* Removes the legs of turns that the turn log has dropped; returns the first remaining one. */
static struct ag_ui_leg *ag_ui_runs_drop_forgotten(struct ag_ui_legs *legs)
{
    for (struct ag_ui_leg **at = &legs->first; *at;) {
        struct ag_ui_leg *const leg = *at;
        if (turnlog_find_turn(legs->log, leg->turn)) {
            at = &leg->next;
            continue;
        }
        *at = leg->next;
        ag_ui_runs_free_leg(leg);
    }
    return legs->first;
}

struct ag_ui_leg *ag_ui_runs_find(struct ag_ui_legs *legs, const char *thread, const char *run)
{
    struct ag_ui_leg *leg = ag_ui_runs_drop_forgotten(legs);
    while (leg && (strcmp(leg->thread, thread) != 0 || strcmp(leg->run, run) != 0))
        leg = leg->next;
    return leg;
}

struct ag_ui_leg *ag_ui_runs_find_newest(struct ag_ui_legs *legs, const char *thread)
{
    struct ag_ui_leg *last = NULL;
    for (struct ag_ui_leg *leg = ag_ui_runs_drop_forgotten(legs); leg; leg = leg->next)
        if (strcmp(leg->thread, thread) == 0)
            last = leg;
    return last;
}

/* "SCOPE:REQUEST" */
const char *ag_ui_run_get_request(const struct ag_ui_leg *leg, const char *id)
{
    const size_t len = strlen(leg->scope);
    return strncmp(id, leg->scope, len) == 0 && id[len] == ':' ? id + len + 1 : NULL;
}

struct ag_ui_leg *ag_ui_runs_find_interrupted(struct ag_ui_legs *legs, const char *thread,
                                              const char *id)
{
    struct ag_ui_leg *last = NULL, *by = NULL;
    for (struct ag_ui_leg *leg = ag_ui_runs_drop_forgotten(legs); leg; leg = leg->next) {
        const char *const request = ag_ui_run_get_request(leg, id);
        if (!request || !leg->until || strcmp(leg->thread, thread) != 0)
            continue;
        last = leg;
        by = open_calls_contains(&leg->asked, request) ? leg : by;
    }
    return by ? by : last;
}

struct ag_ui_leg *ag_ui_runs_add(struct ag_ui_legs *legs, const char *thread, const char *run,
                                 const char *turn, const char *scope, uint64_t after)
{
    struct ag_ui_leg *const leg = xcalloc(1, sizeof *leg);
    struct ag_ui_leg **at = &legs->first;
    snprintf(leg->turn, sizeof leg->turn, "%s", turn);
    leg->thread = xstrdup(thread);
    leg->run = xstrdup(run);
    leg->scope = xstrdup(scope);
    leg->after = after;
    while (*at)
        at = &(*at)->next;
    return *at = leg;
}

void ag_ui_run_interrupt(struct ag_ui_leg *leg, uint64_t until, const struct open_calls *asked)
{
    leg->until = until;
    for (size_t i = 0; i < asked->n; i++)
        open_calls_add(&leg->asked, asked->ids[i], NULL);
}

bool ag_ui_run_is_waiting(const struct ag_ui_leg *leg, const struct request_registry *requests)
{
    struct request_view v;
    for (size_t i = 0; i < leg->asked.n; i++)
        if (request_api_find(requests, leg->turn, leg->asked.ids[i], &v))
            return true;
    return false;
}

uint64_t ag_ui_runs_next_interrupt(struct ag_ui_legs *legs, const char *turn, uint64_t after)
{
    uint64_t cut = 0;
    for (const struct ag_ui_leg *leg = legs->first; leg; leg = leg->next)
        if (strcmp(leg->turn, turn) == 0 && leg->until > after && (!cut || leg->until < cut))
            cut = leg->until;
    return cut;
}
