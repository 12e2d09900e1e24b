/* SPDX-License-Identifier: MIT
 * Owns the words. */
#include "core/conversation/host_reply.h"

#include "base/bytes/utf8.h"
#include "base/plural.h"

#define LINE_MAX ((size_t)80) /* bytes of a waiting message that /queue shows */
#define LINES_MAX 10          /* messages that it shows */

/* "1 message", "2 messages" */
static void host_reply_add_count(struct buf *out, size_t n)
{
    buf_printf(out, "%zu message%s", n, PLURAL(n, "", "s"));
}

void host_reply_queued(struct buf *out, const struct conversation *c, bool restarts)
{
    if (restarts) {
        buf_add_str(out, "Kept: turncast is being restarted.");
        return;
    }
    buf_add_str(out, "Queued: ");
    host_reply_add_count(out, c->n_waiting);
    buf_printf(out, " wait%s %s.", c->n_waiting == 1 ? "s" : "",
               c->job ? "for the running turn" : "for other turns");
}

void host_reply_full(struct buf *out, const struct conversation *c)
{
    host_reply_add_count(out, c->n_waiting);
    buf_add_str(out, " wait already: this one was not taken. \"stop\" ends the running turn and "
                     "drops them.");
}

void host_reply_stopped(struct buf *out, bool ran, bool worked, size_t dropped)
{
    buf_add_str(out, ran       ? "Stopping."
                     : worked  ? "Stopping the work in the background."
                     : dropped ? "Stopped."
                               : "Nothing is running.");
    if (!dropped)
        return;
    buf_add_char(out, ' ');
    host_reply_add_count(out, dropped);
    buf_printf(out, " that waited %s dropped.", dropped == 1 ? "was" : "were");
}

void host_reply_cleared(struct buf *out, const struct taken_back *t)
{
    if (!t->dropped && !t->too_late) {
        buf_add_str(out, "Nothing waits.");
        return;
    }
    if (t->dropped) {
        host_reply_add_count(out, t->dropped);
        buf_add_str(out, t->dropped == 1 ? " was dropped." : " were dropped.");
    }
    if (!t->too_late)
        return;
    if (t->dropped)
        buf_add_char(out, ' ');
    host_reply_add_count(out, t->too_late);
    buf_printf(out, " %s not dropped: the agent has taken %s into the running turn.",
               t->too_late == 1 ? "was" : "were", t->too_late == 1 ? "it" : "them");
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
        buf_add_str(out, "Nothing waits.");
        return;
    }
    host_reply_add_count(out, c->n_waiting);
    buf_add_str(out, c->n_waiting == 1 ? " waits:" : " wait:");
    size_t n = 0;
    for (const struct conversation_message *m = c->first; m && n < LINES_MAX; m = m->next)
        host_reply_add_line(out, ++n, m);
    if (n < c->n_waiting)
        buf_printf(out, "\nand %zu more", c->n_waiting - n);
    buf_printf(out, "\n%cqueue clear drops them.", prefix);
}

void host_reply_help(struct buf *out, char prefix)
{
    static const struct {
        const char *words, *what;
    } rows[] = {
        {"stop", "end the running turn and drop the messages that wait"},
        {"new", "begin a new session with the next message"},
        {"status", "what runs, what waits, and what is shown"},
        {"queue", "the messages that wait"},
        {"queue clear", "drop them"},
        {"show-tools, hide-tools", "show or hide tool calls; also -thinking, -narration, -final, "
                                   "-all"},
        {"stream-status", "what is shown"},
        {"help", "this list"},
    };
    buf_add_str(out, "What you write here is given to the agent, and it answers here. Commands:\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        buf_printf(out, "\n- %c%s: %s", prefix, rows[i].words, rows[i].what);
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
        buf_printf(out, ", %u tool call%s, the last of %s", tools, tools == 1 ? "" : "s", last);
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
    host_reply_add_count(out, c->n_waiting);
    buf_add_str(out, c->n_waiting == 1 ? " waits.\n" : " wait.\n");
}

void host_reply_session(struct buf *out, const char *session)
{
    if (session)
        buf_printf(out, "Session %s.\n", session);
    else
        buf_add_str(out, "No session yet.\n");
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
        buf_add_str(out, " Not saved in Redis yet: kept here until it answers.");
}
