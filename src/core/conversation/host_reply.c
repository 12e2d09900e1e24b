/* SPDX-License-Identifier: MIT
 * Owns the texts and their forms for one and for many. */
#include "core/conversation/host_reply.h"

#include <inttypes.h>

#include "base/bytes/utf8.h"
#include "base/plural.h"

#define LINE_MAX ((size_t)80) /* bytes of a waiting message that /queue shows */
#define LINES_MAX 10          /* messages that it shows */

void host_reply_queued(struct buf *out, const struct conversation *c, bool restarts)
{
    const size_t n = c->n_waiting;
    if (restarts)
        buf_add_str(out, "turncast is restarting. Your message is saved and will be answered after "
                         "the restart.");
    else if (c->job)
        buf_printf(out, "Queued behind the running turn (%zu message%s waiting).", n,
                   PLURAL(n, "", "s"));
    else
        buf_printf(out, "Queued until another turn ends (%zu message%s waiting).", n,
                   PLURAL(n, "", "s"));
}

/* The commands are named as they can be written everywhere: some services keep a message that
 * begins with a slash to themselves. */
void host_reply_full(struct buf *out, int64_t limit)
{
    buf_printf(out,
               "The queue is full (limit: %" PRId64 " message%s), so your message was not "
               "accepted. Send !queue to list the queued messages or !queue clear to drop them.",
               limit, PLURAL(limit, "", "s"));
}

static void host_reply_dropped(struct buf *out, const char *lead, size_t n)
{
    buf_printf(out, "%sDropped %zu queued message%s.", lead, n, PLURAL(n, "", "s"));
}

void host_reply_stopped(struct buf *out, bool ran, bool worked, size_t dropped)
{
    if (ran)
        buf_add_str(out, "Stopping the running turn.");
    else if (worked)
        buf_add_str(out, "Stopping the work in the background.");
    else if (!dropped)
        buf_add_str(out, "Nothing is running.");
    if (dropped)
        host_reply_dropped(out, ran || worked ? " " : "", dropped);
}

void host_reply_cleared(struct buf *out, const struct taken_back *t)
{
    if (!t->dropped && !t->too_late)
        buf_add_str(out, "The queue is empty.");
    if (t->dropped)
        host_reply_dropped(out, "", t->dropped);
    if (t->too_late)
        buf_printf(out, "%s%zu message%s not dropped: the agent has already received %s.",
                   t->dropped ? " " : "", t->too_late, PLURAL(t->too_late, " was", "s were"),
                   PLURAL(t->too_late, "it", "them"));
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
    if (!c || !c->n_waiting) {
        buf_add_str(out, "The queue is empty.");
        return;
    }
    buf_printf(out, "%zu message%s in the queue:", c->n_waiting, PLURAL(c->n_waiting, "", "s"));
    size_t n = 0;
    for (const struct conversation_message *m = c->first; m && n < LINES_MAX; m = m->next)
        host_reply_add_line(out, ++n, m);
    if (n < c->n_waiting)
        buf_printf(out, "\n… and %zu more", c->n_waiting - n);
    buf_printf(out, "\nSend %cqueue clear to drop them.", prefix);
}

static void host_reply_add_time(struct buf *out, int64_t ms)
{
    const long long s = (long long)ms / 1000;
    if (s >= 3600)
        buf_printf(out, "%lld h %lld min", s / 3600, s / 60 % 60);
    else if (s >= 60)
        buf_printf(out, "%lld min %lld s", s / 60, s % 60);
    else
        buf_printf(out, "%lld s", s);
}

static void host_reply_add_job(struct buf *out, const struct turn_job *j)
{
    const char *last;
    const unsigned tools = turn_job_tool_count(j, &last);
    buf_add_str(out, "Running for ");
    host_reply_add_time(out, turn_job_elapsed_ms(j));
    if (tools)
        buf_printf(out, ", %u tool call%s so far, most recent: %s", tools, PLURAL(tools, "", "s"),
                   last);
    buf_add_str(out, ".\n");
}

void host_reply_running(struct buf *out, const struct conversation *c)
{
    if (c && c->job)
        host_reply_add_job(out, c->job);
    else
        buf_add_str(out, "Nothing is running.\n");
    if (!c || !c->n_waiting)
        return;
    buf_printf(out, "%zu message%s queued.\n", c->n_waiting, PLURAL(c->n_waiting, "", "s"));
}

void host_reply_session(struct buf *out, const char *session)
{
    if (session)
        buf_printf(out, "Session: %s.\n", session);
    else
        buf_add_str(out, "No session yet; the next message starts one.\n");
}

static void add_shown(struct buf *out, const char *lead, const struct visibility *v,
                      enum visibility_switch which)
{
    const struct {
        const char *name;
        enum visibility_switch show;
    } rows[] = {{"answers", v->final},
                {"narration", v->narration},
                {"tools", v->tools},
                {"thinking", v->thinking}};
    const size_t before = out->len;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].show == which)
            buf_printf(out, "%s%s", out->len == before ? lead : ", ", rows[i].name);
    if (out->len > before)
        buf_add_char(out, '.');
}

void host_reply_visibility(struct buf *out, struct visibility v)
{
    add_shown(out, "Shown: ", &v, SHOW_ON);
    add_shown(out,
              v.final == SHOW_ON || v.narration == SHOW_ON || v.tools == SHOW_ON ||
                      v.thinking == SHOW_ON
                  ? " Hidden: "
                  : "Hidden: ",
              &v, SHOW_OFF);
}

void host_reply_saved(struct buf *out, enum visibility_store_result saved)
{
    if (saved == VISIBILITY_STORE_SAVED_LOCALLY)
        buf_add_str(out, " Redis is unavailable; this setting is stored locally and will be "
                         "synchronised later.");
}
