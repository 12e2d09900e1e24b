/* SPDX-License-Identifier: MIT
 * Encodes a list of sessions as text: one line "ID MILLISECONDS WORDS" each. */
#include "core/settings/session_history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/bytes/utf8.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"

#define WORDS_MAX ((size_t)80) /* bytes */

struct session_history {
    struct journal_async *journal;
};

struct session_history *session_history_new(struct journal_async *journal)
{
    struct session_history *const h = xcalloc(1, sizeof *h);
    h->journal = journal;
    return h;
}

void session_history_free(struct session_history *h)
{
    free(h);
}

/* ---- the list ---- */

static char *sessions_key(const char *name, const char *conversation)
{
    return xasprintf("sessions:%s:%s", name, conversation);
}

/* Cuts off the next line of *rest in place; false: none, or invalid. */
static bool session_history_parse_line(char **rest, struct session_history_entry *e)
{
    char *const line = strsep(rest, "\n"), *words = line;
    const char *const id = strsep(&words, " "), *const time = words ? strsep(&words, " ") : NULL;
    if (!id || !*id || !time)
        return false;
    *e = (struct session_history_entry){id, strtoll(time, NULL, 10), words ? words : ""};
    return true;
}

static size_t session_history_parse(char *text, struct session_history_entry *entries)
{
    size_t n = 0;
    while (text && n < SESSION_HISTORY_MAX && session_history_parse_line(&text, &entries[n]))
        n++;
    return n;
}

struct session_history_lookup {
    void (*done)(void *ctx, const struct session_history_entry *entries, size_t n);
    void *ctx;
};

static void session_history_on_list(void *ctx, enum journal_status status, const char *text)
{
    struct session_history_lookup *const q = ctx;
    struct session_history_entry entries[SESSION_HISTORY_MAX];
    CLEANUP_FREE char *copy = status == JOURNAL_DONE ? xstrdup(text) : NULL;
    q->done(q->ctx, entries, session_history_parse(copy, entries));
    free(q);
}

void session_history_list(struct session_history *h, const char *name, const char *conversation,
                          void (*done)(void *ctx, const struct session_history_entry *entries,
                                       size_t n),
                          void *ctx)
{
    struct session_history_lookup *const q = xmalloc(sizeof *q);
    CLEANUP_FREE char *key = sessions_key(name, conversation);
    *q = (struct session_history_lookup){done, ctx};
    journal_async_kv_get(h->journal, key, session_history_on_list, q);
}

/* ---- adding ---- */

struct session_history_addition {
    struct session_history *history;
    char *key, *session, *words;
};

static void session_history_write_line(struct buf *out, const struct session_history_entry *e)
{
    buf_printf(out, "%s %" PRId64 " %s\n", e->id, e->used_ms, e->words);
}

/* Moves it to the front; keeps its known values. */
static void session_history_write(const struct session_history_addition *a,
                                  const struct session_history_entry *entries, size_t n)
{
    CLEANUP_BUF struct buf text = {0}, others = {0};
    const char *words = a->words;
    size_t kept = 1;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(entries[i].id, a->session) == 0)
            words = *entries[i].words ? entries[i].words : words;
        else if (kept++ < SESSION_HISTORY_MAX)
            session_history_write_line(&others, &entries[i]);
    }
    session_history_write_line(&text, &(struct session_history_entry){
                                          a->session, (int64_t)(clock_wall_s() * 1000), words});
    buf_add(&text, others.p, others.len);
    journal_async_kv_put(a->history->journal, a->key, text.p, NULL, NULL);
}

static void session_history_on_read(void *ctx, enum journal_status status, const char *text)
{
    struct session_history_addition *const a = ctx;
    struct session_history_entry entries[SESSION_HISTORY_MAX];
    CLEANUP_FREE char *copy = status == JOURNAL_DONE ? xstrdup(text) : NULL;
    if (status == JOURNAL_DONE || status == JOURNAL_NO_CHANGE)
        session_history_write(a, entries, session_history_parse(copy, entries));
    free(a->key);
    free(a->session);
    free(a->words);
    free(a);
}

/* The first line of the prompt, shortened. */
static char *make_words(const char *prompt)
{
    prompt += strspn(prompt, " \t\r\n");
    const size_t line = strcspn(prompt, "\r\n");
    const size_t len = line <= WORDS_MAX ? line : utf8_truncated_len(prompt, line, WORDS_MAX);
    char *const words = xasprintf("%.*s%s", (int)len, prompt, len < line ? "\xe2\x80\xa6" : "");
    for (char *p = words; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
    return words;
}

void session_history_add(struct session_history *h, const char *name, const char *conversation,
                         const char *session, const char *prompt)
{
    struct session_history_addition *const a = xmalloc(sizeof *a);
    *a = (struct session_history_addition){
        .history = h,
        .key = sessions_key(name, conversation),
        .session = xstrdup(session),
        .words = make_words(prompt),
    };
    journal_async_kv_get(h->journal, a->key, session_history_on_read, a);
}

/* ---- the last prompt ---- */

static char *prompt_key(const char *conversation)
{
    return xasprintf("prompt:%s", conversation);
}

/* Starts a value: the turn, a line feed, then its prompt. Earlier versions stored the prompt
 * only. */
#define TURN_MARK '\x1e'

/* Deletes an older prompt, which must not be mistaken for this one. */
void session_history_set_prompt(struct session_history *h, const char *conversation,
                                const char *turn, struct str prompt)
{
    CLEANUP_FREE char *key = prompt_key(conversation);
    CLEANUP_BUF struct buf value = {0};
    buf_printf(&value, "%c%s\n", TURN_MARK, turn);
    buf_add(&value, prompt.p, prompt.len);
    const bool fits = value.len <= JOURNAL_MAX_VALUE;
    journal_async_kv_put(h->journal, key, fits ? value.p : NULL, NULL, NULL);
}

const char *session_history_read_prompt(const char *found, struct str *turn)
{
    const char *const end = *found == TURN_MARK ? strchr(found, '\n') : NULL;
    *turn = end ? (struct str){found + 1, (size_t)(end - found - 1)} : (struct str){"", 0};
    return end ? end + 1 : found;
}

void session_history_find_prompt(struct session_history *h, const char *conversation,
                                 journal_done_fn *done, void *ctx)
{
    CLEANUP_FREE char *key = prompt_key(conversation);
    journal_async_kv_get(h->journal, key, done, ctx);
}
