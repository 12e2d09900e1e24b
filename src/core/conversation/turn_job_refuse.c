/* SPDX-License-Identifier: MIT
 * Ends a turn before its agent has started. */
#include "core/budget/budget_text.h"
#include "core/conversation/turn_job_internal.h"
#include "text/sentence/texts.h"

static void turn_job_end_unstarted(struct turn_job *j, const char *code, const char *text)
{
    struct stream_end_info end = {.how = STREAM_SPAWN, .code = code, .message = text};
    j->spending.budgets = NULL;
    turn_job_open_turn(j);
    turn_end_attempt(j->turn, &end, NULL);
    j->gone = true;
    turn_job_check_end(j);
}

/* A budget was used up while the message was queued: the turn ends without an agent. Turns that the
 * agent has started, or whose message it has, continue. */
bool turn_job_refuse(struct turn_job *j)
{
    const struct turn_job_spec *const s = &j->spec;
    TEXTS_IN(turn_job_language(s));
    struct budget_refusal why;
    CLEANUP_BUF struct buf text = {0};
    if (!s->budgets || s->by_agent || s->has_message ||
        budgets_allow(s->budgets, &j->spending.payer, &why))
        return false;
    budget_text_append_refusal(&text, &why);
    turn_job_end_unstarted(j, "over_budget", text.p);
    return true;
}

bool turn_job_refuse_unlocked(struct turn_job *j)
{
    TEXTS_IN(turn_job_language(&j->spec));
    if (j->fenced)
        turn_job_end_unstarted(j, "lock_lost", texts_get(TEXT_LOCK_LOST));
    else if (j->spec.lock.refused)
        turn_job_end_unstarted(j, "store_unavailable", texts_get(TEXT_STORE_AWAY));
    return j->gone;
}
