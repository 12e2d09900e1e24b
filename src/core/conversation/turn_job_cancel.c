/* SPDX-License-Identifier: MIT
 * Ends a turn before its agent has finished, in whatever step the turn is. Loop thread only. */
#include "core/conversation/turn_job_internal.h"

/* The executor is cancelled as soon as it exists; it does not wait for servers that are away. */
static void turn_job_cancel_unbegun(struct turn_job *j, unsigned *count)
{
    ++*count;
    if (j->spec.away.work)
        work_share_hurry(j->spec.away.work, j);
}

void turn_job_cancel(struct turn_job *j)
{
    j->cancelled = true;
    if (j->executor)
        executor_cancel(j->executor);
    else if (!j->turn)
        turn_job_cancel_unbegun(j, &j->cancels);
    if (j->transcription)
        transcription_cancel(j->transcription);
}

void turn_job_cancel_for_exit(struct turn_job *j)
{
    if (turn_job_is_away(j))
        return;
    if (j->executor)
        executor_cancel_for_exit(j->executor);
    else if (!j->turn)
        turn_job_cancel_unbegun(j, &j->shutdowns);
    if (j->transcription)
        transcription_cancel(j->transcription);
}

void turn_job_fence(struct turn_job *j)
{
    j->fenced = true;
    if (j->executor)
        executor_fence(j->executor);
    if (j->transcription)
        transcription_cancel(j->transcription);
}

void turn_job_cut_off(struct turn_job *j)
{
    if (j->executor)
        executor_cut_off(j->executor);
    else
        turn_job_cancel(j);
}
