/* SPDX-License-Identifier: MIT
 * Composes the sentences of replies. */
#include "core/conversation/host_reply.h"

#include "base/bytes/utf8.h"
#include "text/sentence/texts.h"

#define LINE_MAX ((size_t)80) /* bytes of a queued message that /queue shows */
#define LINES_MAX 10          /* messages that /queue shows */

void host_reply_queued(struct buf *out, const struct conversation *c, bool restarts)
{
    if (restarts)
        texts_append(out, TEXT_QUEUED_RESTART, NULL);
    else
        texts_append(out, c->job ? TEXT_QUEUED_BEHIND : TEXT_QUEUED_UNTIL,
                     TEXT_VALUES(TEXT_INT("n", c->n_waiting)));
}

void host_reply_unlocked(struct buf *out, const struct conversation *c,
                         const struct turn_locks *locks)
{
    if (turn_lock_state(locks, c->key) != TURN_LOCK_UNREACHABLE)
        texts_append(out, TEXT_QUEUED_ELSEWHERE, TEXT_VALUES(TEXT_INT("n", c->n_waiting)));
    else
        texts_append(out, turn_locks_are_on_bus(locks) ? TEXT_QUEUED_BUS : TEXT_QUEUED_STORE, NULL);
}

/* Names commands in a form that works everywhere: some services intercept messages that begin with
 * a slash. */
void host_reply_full(struct buf *out, int64_t limit)
{
    texts_append(out, TEXT_QUEUE_FULL, TEXT_VALUES(TEXT_INT("limit", limit)));
}

/* Adds a blank before a sentence unless it is the first. */
static void host_reply_separate(struct buf *out)
{
    if (out->len && out->p[out->len - 1] != '\n')
        buf_add_char(out, ' ');
}

void host_reply_stopped(struct buf *out, bool ran, bool worked, size_t dropped)
{
    if (ran)
        texts_append(out, TEXT_STOPPING, NULL);
    else if (worked)
        texts_append(out, TEXT_STOPPING_BACKGROUND, NULL);
    else if (!dropped)
        texts_append(out, TEXT_NOTHING_RUNS, NULL);
    if (!dropped)
        return;
    host_reply_separate(out);
    texts_append(out, TEXT_DROPPED, TEXT_VALUES(TEXT_INT("n", dropped)));
}

void host_reply_cleared(struct buf *out, const struct taken_back *t)
{
    if (!t->dropped && !t->too_late)
        texts_append(out, TEXT_QUEUE_EMPTY, NULL);
    if (t->dropped)
        texts_append(out, TEXT_DROPPED, TEXT_VALUES(TEXT_INT("n", t->dropped)));
    if (!t->too_late)
        return;
    host_reply_separate(out);
    texts_append(out, TEXT_NOT_DROPPED, TEXT_VALUES(TEXT_INT("n", t->too_late)));
}

static void host_reply_add_line(struct buf *out, size_t number,
                                const struct conversation_message *m)
{
    const size_t line = strcspn(m->prompt, "\n");
    const size_t len = line <= LINE_MAX ? line : utf8_truncated_len(m->prompt, line, LINE_MAX);
    buf_printf(out, "\n%zu. %.*s%s", number, (int)len, m->prompt,
               len < m->prompt_len ? "\xe2\x80\xa6" : "");
}

void host_reply_queue(struct buf *out, const struct conversation *c, char prefix)
{
    const char sign[] = {prefix, 0};
    if (!c || !c->n_waiting) {
        texts_append(out, TEXT_QUEUE_EMPTY, NULL);
        return;
    }
    texts_append(out, TEXT_QUEUE_HEAD, TEXT_VALUES(TEXT_INT("n", c->n_waiting)));
    size_t n = 0;
    for (const struct conversation_message *m = c->first; m && n < LINES_MAX; m = m->next)
        host_reply_add_line(out, ++n, m);
    buf_add_char(out, '\n');
    if (n < c->n_waiting) {
        texts_append(out, TEXT_QUEUE_MORE, TEXT_VALUES(TEXT_INT("n", c->n_waiting - n)));
        buf_add_char(out, '\n');
    }
    texts_append(out, TEXT_QUEUE_HINT, TEXT_VALUES(TEXT_STR("prefix", sign)));
}

static void host_reply_add_time(struct buf *out, int64_t ms)
{
    const int64_t s = ms / 1000;
    if (s >= 3600)
        texts_append(out, TEXT_TIME_HOURS,
                     TEXT_VALUES(TEXT_INT("h", s / 3600), TEXT_INT("min", s / 60 % 60)));
    else if (s >= 60)
        texts_append(out, TEXT_TIME_MINUTES,
                     TEXT_VALUES(TEXT_INT("min", s / 60), TEXT_INT("s", s % 60)));
    else
        texts_append(out, TEXT_TIME_SECONDS, TEXT_VALUES(TEXT_INT("s", s)));
}

static void host_reply_add_job(struct buf *out, const struct turn_job *j)
{
    const char *last;
    CLEANUP_BUF struct buf time = {0};
    const unsigned tools = turn_job_tool_count(j, &last);
    host_reply_add_time(&time, turn_job_elapsed_ms(j));
    if (tools)
        texts_append(out, TEXT_STATUS_TOOLS,
                     TEXT_VALUES(TEXT_STR("time", time.p), TEXT_INT("n", tools),
                                 TEXT_STR("tool", last ? last : "?")));
    else
        texts_append(out, TEXT_STATUS_RUNNING, TEXT_VALUES(TEXT_STR("time", time.p)));
}

void host_reply_running(struct buf *out, const struct conversation *c)
{
    if (c && c->job)
        host_reply_add_job(out, c->job);
    else
        texts_append(out, TEXT_NOTHING_RUNS, NULL);
    buf_add_char(out, '\n');
    if (!c || !c->n_waiting)
        return;
    texts_append(out, TEXT_STATUS_QUEUED, TEXT_VALUES(TEXT_INT("n", c->n_waiting)));
    buf_add_char(out, '\n');
}

void host_reply_session(struct buf *out, const char *session)
{
    if (session)
        texts_append(out, TEXT_STATUS_SESSION, TEXT_VALUES(TEXT_STR("id", session)));
    else
        texts_append(out, TEXT_STATUS_NO_SESSION, NULL);
    buf_add_char(out, '\n');
}

static void add_shown(struct buf *out, enum text_id sentence, const struct visibility *v,
                      enum visibility_switch which)
{
    const struct {
        enum text_id name;
        enum visibility_switch show;
    } rows[] = {{TEXT_SHOWN_ANSWERS, v->final},
                {TEXT_SHOWN_NARRATION, v->narration},
                {TEXT_SHOWN_TOOLS, v->tools},
                {TEXT_SHOWN_THINKING, v->thinking}};
    CLEANUP_BUF struct buf list = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].show == which)
            buf_printf(&list, "%s%s", list.len ? ", " : "", texts_get(rows[i].name));
    if (!list.len)
        return;
    host_reply_separate(out);
    texts_append(out, sentence, TEXT_VALUES(TEXT_STR("list", list.p)));
}

void host_reply_visibility(struct buf *out, struct visibility v)
{
    add_shown(out, TEXT_SHOWN, &v, SHOW_ON);
    add_shown(out, TEXT_HIDDEN, &v, SHOW_OFF);
}

void host_reply_saved(struct buf *out, enum visibility_store_result saved)
{
    if (saved != VISIBILITY_STORE_SAVED_LOCALLY)
        return;
    host_reply_separate(out);
    texts_append(out, TEXT_SAVED_LOCALLY, NULL);
}
