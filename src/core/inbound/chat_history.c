/* SPDX-License-Identifier: MIT
 * Lists and resumes sessions, repeats the last prompt, and reports usage. */
#include "core/inbound/chat_history.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/cleanup.h"
#include "core/inbound/inbound_internal.h"
#include "core/inbound/user_command.h"
#include "core/request/approvals.h"
#include "text/file_line.h"
#include "text/sentence/texts.h"

#define NAME_SHOWN ((size_t)80) /* bytes of an unknown name in the reply */

/* A command that waits for the journal. */
struct chat_history_query {
    struct inbound *inbound;
    const struct conf *conf; /* configuration of the instance; holds a reference */
    const struct conf_instance *instance;
    struct host_call *ask;
    char *key;
    char *name; /* argument of /resume; "": none */
};

static struct chat_history_query *chat_history_query_new(struct inbound *r, struct host_call *a,
                                                         const struct conf_instance *inst,
                                                         const char *name)
{
    struct chat_history_query *const q = xmalloc(sizeof *q);
    *q = (struct chat_history_query){
        .inbound = r,
        .conf = conf_ref(r->spec.conf),
        .instance = inst,
        .ask = a,
        .key = inbound_make_key(inst->name, a->inbound->chat, a->inbound->thread),
        .name = xstrdup(name),
    };
    return q;
}

static void chat_history_query_end(struct chat_history_query *q, const char *text)
{
    if (text)
        host_call_complete(q->ask, TC_COMMAND, NULL, text);
    conf_unref(q->conf);
    free(q->key);
    free(q->name);
    free(q);
}

static const struct conf_agent *chat_history_agent_of(const struct chat_history_query *q)
{
    const struct tc_inbound *const in = q->ask->inbound;
    return inbound_agent_of(q->inbound, q->instance, in->chat, in->thread);
}

/* ---- /sessions, /resume ---- */

static void append_session(struct buf *out, size_t number, const struct session_history_entry *e)
{
    char time[40];
    const time_t used = (time_t)(e->used_ms / 1000);
    struct tm t;
    localtime_r(&used, &t);
    strftime(time, sizeof time, "%Y-%m-%d %H:%M", &t);
    buf_printf(out, "\n%zu. %s", number, time);
    if (*e->words)
        buf_printf(out, ": %s", e->words);
}

static void append_sessions(struct buf *out, const struct chat_history_query *q,
                            const struct session_history_entry *entries, size_t n)
{
    const char sign[] = {user_command_prefix(q->ask->inbound->text), 0};
    const struct conf_agent *const agent = chat_history_agent_of(q);
    if (!n) {
        texts_append(out, TEXT_SESSIONS_NONE, NULL);
        return;
    }
    texts_append(out, TEXT_SESSIONS_HEAD,
                 TEXT_VALUES(TEXT_STR("agent", agent ? agent->name : "?")));
    for (size_t i = 0; i < n; i++)
        append_session(out, i + 1, &entries[i]);
    buf_add_str(out, "\n");
    texts_append(out, TEXT_SESSIONS_HINT, TEXT_VALUES(TEXT_STR("prefix", sign)));
}

/* n: unknown name. */
static size_t chat_history_find_session(const struct session_history_entry *entries, size_t n,
                                        const char *name)
{
    char *end;
    const unsigned long number = strtoul(name, &end, 10);
    for (size_t i = 0; i < n; i++)
        if (strcmp(entries[i].id, name) == 0)
            return i;
    return !*end && number >= 1 && number <= n ? number - 1 : n;
}

/* The next turn resumes that session. */
static bool chat_history_bind(const struct chat_history_query *q, const char *session)
{
    const struct inbound *const r = q->inbound;
    const struct conversation *const c = turn_scheduler_find(r->spec.conversations, q->key);
    const struct conf_agent *const agent = chat_history_agent_of(q);
    const bool runs = c && c->job;
    if (!agent)
        return false;
    if (runs)
        turn_job_discard_session(c->job);
    turn_scheduler_forget_process(r->spec.conversations, q->key);
    session_store_keep_spent(r->spec.sessions, conf_agent_session_name(agent), q->key, NULL);
    session_store_save(r->spec.sessions, conf_agent_session_name(agent), q->key, session,
                       SESSION_FENCE_CHOSEN);
    approvals_end_session(r->spec.approvals, agent->name, q->key);
    return runs;
}

static void chat_history_resume(const struct chat_history_query *q, struct buf *out,
                                const struct session_history_entry *entries, size_t n)
{
    const size_t i = chat_history_find_session(entries, n, q->name);
    if (i == n) {
        char name[NAME_SHOWN + 1];
        utf8_copy_truncated(name, sizeof name, q->name);
        texts_append(out, TEXT_CHOICE_UNKNOWN, TEXT_VALUES(TEXT_STR("name", name)));
        buf_add_str(out, "\n");
        append_sessions(out, q, entries, n);
        return;
    }
    const bool runs = chat_history_bind(q, entries[i].id);
    texts_append(out, TEXT_RESUMED, TEXT_VALUES(TEXT_INT("number", i + 1)));
    if (runs)
        texts_append(out, TEXT_RESUMED_RUNNING, NULL);
    append_session(out, i + 1, &entries[i]);
}

static void chat_history_on_sessions(void *ctx, const struct session_history_entry *entries,
                                     size_t n)
{
    struct chat_history_query *const q = ctx;
    TEXTS_IN(q->ask->language);
    CLEANUP_BUF struct buf text = {0};
    if (*q->name)
        chat_history_resume(q, &text, entries, n);
    else
        append_sessions(&text, q, entries, n);
    chat_history_query_end(q, text.p);
}

void chat_history_sessions(struct inbound *r, struct host_call *a, const struct conf_instance *inst,
                           const char *name)
{
    const struct conf_agent *const agent =
        inbound_agent_of(r, inst, a->inbound->chat, a->inbound->thread);
    if (!agent) { /* removed in the meantime */
        host_call_complete(a, TC_DENIED, NULL, NULL);
        return;
    }
    struct chat_history_query *const q = chat_history_query_new(r, a, inst, name);
    session_history_list(r->spec.history, conf_agent_session_name(agent), q->key,
                         chat_history_on_sessions, q);
}

/* ---- /retry ---- */

/* Marks the line of a file that no longer exists. */
static void append_prompt_line(struct buf *out, struct str line)
{
    struct file_line f;
    if (file_line_read(&f, line)) {
        CLEANUP_FREE char *path = xstrndup(f.path.p, f.path.len);
        if (access(path, F_OK) < 0) {
            buf_add(out, line.p, line.len - 1);
            buf_add_str(out, ": not there any more]");
            return;
        }
    }
    buf_add(out, line.p, line.len);
}

static void append_prompt(struct buf *out, const char *prompt)
{
    while (*prompt) {
        const size_t len = strcspn(prompt, "\n");
        append_prompt_line(out, (struct str){prompt, len});
        prompt += len;
        if (*prompt)
            buf_add_char(out, *prompt++);
    }
}

static void chat_history_on_prompt(void *ctx, enum journal_status status, const char *text)
{
    struct chat_history_query *const q = ctx;
    TEXTS_IN(q->ask->language);
    CLEANUP_BUF struct buf prompt = {0};
    struct str turn = {"", 0};
    const char *const found =
        status == JOURNAL_DONE ? session_history_read_prompt(text, &turn) : "";
    const bool is_older = q->ask->turn && !str_is(turn, q->ask->turn);
    if (!*found || is_older) {
        chat_history_query_end(q, texts_get(*found ? TEXT_RETRY_OLDER : TEXT_RETRY_NONE));
        return;
    }
    append_prompt(&prompt, found);
    inbound_submit_prompt(q->inbound, q->ask, q->instance, (struct str){prompt.p, prompt.len});
    chat_history_query_end(q, NULL);
}

void chat_history_retry(struct inbound *r, struct host_call *a, const struct conf_instance *inst)
{
    struct chat_history_query *const q = chat_history_query_new(r, a, inst, "");
    const struct conversation *const c = turn_scheduler_find(r->spec.conversations, q->key);
    if (c && (c->job || c->n_waiting))
        chat_history_query_end(q, texts_get(TEXT_RETRY_RUNNING));
    else
        session_history_find_prompt(r->spec.history, q->key, chat_history_on_prompt, q);
}

/* ---- /usage ---- */

static void append_sum(struct buf *out, enum text_id lead, const struct usage_sum *s)
{
    CLEANUP_BUF struct buf cost = {0};
    buf_add_str(out, out->len ? "\n" : "");
    texts_append(out, lead, TEXT_VALUES(TEXT_INT("turns", s->turns)));
    buf_add_char(out, ' ');
    if (!s->counted && !s->priced) {
        texts_append(out, TEXT_USAGE_UNKNOWN, NULL);
        return;
    }
    texts_append(out, TEXT_USAGE_TOKENS,
                 TEXT_VALUES(TEXT_INT("input", s->input), TEXT_INT("output", s->output)));
    texts_append_decimal(&cost, (double)s->micros / 1e6, 4);
    if (s->priced)
        texts_append(out, TEXT_USAGE_COST, TEXT_VALUES(TEXT_STR("cost", cost.p)));
    buf_add_char(out, '.');
    if (s->turns > 1 && s->counted < s->turns)
        texts_append(out, TEXT_USAGE_COUNTED, TEXT_VALUES(TEXT_INT("turns", s->counted)));
    if (s->priced && s->priced < s->counted)
        texts_append(out, TEXT_USAGE_PRICED, TEXT_VALUES(TEXT_INT("turns", s->priced)));
}

static void chat_history_on_usage(void *ctx, const struct usage_report *report)
{
    struct host_call *const a = ctx;
    TEXTS_IN(a->language);
    CLEANUP_BUF struct buf text = {0};
    if (report->last.turns) {
        append_sum(&text, TEXT_USAGE_LAST, &report->last);
        append_sum(&text, TEXT_USAGE_CHAT, &report->conversation);
    }
    if (report->today.turns)
        append_sum(&text, TEXT_USAGE_TODAY, &report->today);
    host_call_complete(a, TC_COMMAND, NULL, text.len ? text.p : texts_get(TEXT_USAGE_NONE));
}

void chat_history_usage(struct inbound *r, struct host_call *a, const struct conf_instance *inst)
{
    CLEANUP_FREE char *key = inbound_make_key(inst->name, a->inbound->chat, a->inbound->thread);
    usage_log_report(r->spec.usage, inst->name, key, chat_history_on_usage, a);
}
