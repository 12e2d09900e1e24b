/* SPDX-License-Identifier: MIT
 * Owns the list of approvals, in memory and in the journal. */
#include "core/request/approvals.h"

#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "event/json/json_redact.h"
#include "event/json/json_writer.h"

#define KEY "allow." /* prefix and digest, of shared entries */

#define LOOKED_AT_MAX 65536 /* bytes of an argument that are shown */
#define SHOWN_MAX 300

/* A digest as hexadecimal text. */
struct approvals_digest {
    char text[2 * SHA256_DIGEST_SIZE + 1];
};

struct approval {
    int64_t id;
    enum approvals_scope scope;
    char *agent;
    char *where;     /* a turn, a conversation, or "" */
    char *tool, *by; /* beginning of the argument, for people */
    struct approvals_digest key;
};

struct approvals {
    struct journal_async *journal; /* or NULL */
    struct shared_user *shared;    /* NULL: no other hosts */
    struct approval *items;        /* oldest first */
    size_t n, cap;
    int64_t last_id;
};

/* ---- comparison and display ---- */

/* Adds each text with its NUL, so that different triples have different input. */
static struct approvals_digest approvals_make_key(const char *agent, const char *tool,
                                                  const char *argument)
{
    const char *const parts[] = {agent, tool ? tool : "", argument};
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx sha;
    struct approvals_digest key;
    sha256_init(&sha);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sha256_update(&sha, strlen(parts[i]) + 1, (const uint8_t *)parts[i]);
    sha256_digest(&sha, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(key.text + 2 * i, 3, "%02x", digest[i]);
    return key;
}

/* Masks secrets before cutting. An argument that begins with a brace is JSON, which is masked as a
 * whole or not shown at all. */
void approvals_append_summary(struct buf *out, const char *text)
{
    const size_t len = strlen(text);
    if (*text != '{')
        log_redact(out, (struct str){text, utf8_truncated_len(text, len, LOOKED_AT_MAX)});
    else if (len <= LOOKED_AT_MAX)
        json_redact(out, (struct str){text, len});
    if (out->len <= SHOWN_MAX)
        return;
    out->len = utf8_truncated_len(out->p, out->len, SHOWN_MAX);
    buf_add_str(out, "\xe2\x80\xa6");
}

/* ---- the list ---- */

static void approvals_remove_at(struct approvals *a, size_t i)
{
    free(a->items[i].agent);
    free(a->items[i].where);
    free(a->items[i].tool);
    free(a->items[i].by);
    a->n--;
    memmove(a->items + i, a->items + i + 1, (a->n - i) * sizeof *a->items);
}

static void approvals_delete_stored(struct approvals *a,
                                    const struct journal_approval_filter *which)
{
    if (a->journal)
        journal_async_delete_approvals(a->journal, which, NULL, NULL);
}

/* The shared value; value NULL: revoked. */
static void approvals_publish(const struct approvals *a, const struct approval *item,
                              const char *value)
{
    CLEANUP_FREE char *key = xasprintf(KEY "%s", item->key.text);
    if (a->shared && item->scope == APPROVALS_ALWAYS)
        shared_put(a->shared, key, value);
}

static void approvals_report_allowed(const struct approvals *a, const struct approval *item)
{
    CLEANUP_BUF struct buf value = {0};
    buf_add_char(&value, '{');
    jsonw_member_str(&value, "agent", item->agent);
    jsonw_member_str(&value, "tool", item->tool);
    jsonw_member_str(&value, "by", item->by);
    buf_add_char(&value, '}');
    approvals_publish(a, item, value.p);
}

static void approvals_make_room(struct approvals *a)
{
    while (a->n >= APPROVALS_MAX) {
        const struct approval *const oldest = &a->items[0];
        log_write(LOG_WARN, "host",
                  "approval %" PRId64
                  " of agent %s removed: the limit of %d stored approvals is reached",
                  oldest->id, oldest->agent, APPROVALS_MAX);
        if (oldest->scope != APPROVALS_TURN)
            approvals_delete_stored(a, &(struct journal_approval_filter){.id = oldest->id});
        approvals_publish(a, oldest, NULL);
        approvals_remove_at(a, 0);
    }
}

static void approvals_append(struct approvals *a, const struct approval *item)
{
    a->items = alloc_grow(a->items, a->n, &a->cap, sizeof *a->items);
    a->items[a->n++] = *item;
    if (item->id > a->last_id)
        a->last_id = item->id;
}

static bool approvals_covers(const struct approval *item, const char *conversation,
                             const char *turn)
{
    switch (item->scope) {
    case APPROVALS_TURN:
        return turn && strcmp(item->where, turn) == 0;
    case APPROVALS_SESSION:
        return conversation && strcmp(item->where, conversation) == 0;
    case APPROVALS_ALWAYS:
        break;
    }
    return true;
}

static const struct approval *approvals_find(const struct approvals *a,
                                             const struct approvals_digest *key,
                                             const char *conversation, const char *turn)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i].key.text, key->text) == 0 &&
            approvals_covers(&a->items[i], conversation, turn))
            return &a->items[i];
    return NULL;
}

bool approvals_match(struct approvals *a, const char *agent, const char *conversation,
                     const char *turn, const char *tool, const char *argument)
{
    if (!argument)
        return false;
    const struct approvals_digest key = approvals_make_key(agent, tool, argument);
    return approvals_find(a, &key, conversation, turn) != NULL;
}

/* ---- adding ---- */

static void write_down(struct approvals *a, const struct approval *item, const char *argument)
{
    CLEANUP_BUF struct buf shown = {0};
    if (!a->journal || item->scope == APPROVALS_TURN)
        return;
    approvals_append_summary(&shown, argument);
    journal_async_put_approval(a->journal,
                               &(struct journal_approval){.id = item->id,
                                                          .agent = item->agent,
                                                          .conv = item->where,
                                                          .key = item->key.text,
                                                          .tool = item->tool,
                                                          .shown = shown.p ? shown.p : "",
                                                          .by = item->by},
                               NULL, NULL);
}

static char *approvals_summarize(const char *text)
{
    CLEANUP_BUF struct buf out = {0};
    approvals_append_summary(&out, text ? text : "");
    return xstrdup(out.p ? out.p : "");
}

void approvals_remember(struct approvals *a, enum approvals_scope scope, const char *agent,
                        const char *conversation, const char *turn, const char *tool,
                        const char *argument, const char *by)
{
    static const char *const scopes[] = {"the turn", "the session", "good"};
    if (!argument)
        return;
    if (scope == APPROVALS_SESSION && (!conversation || !*conversation))
        scope = APPROVALS_TURN;
    const struct approvals_digest key = approvals_make_key(agent, tool, argument);
    const struct approval *const known = approvals_find(a, &key, conversation, turn);
    if (known && known->scope >= scope)
        return;
    approvals_make_room(a);
    const char *const where = scope == APPROVALS_TURN      ? turn
                              : scope == APPROVALS_SESSION ? conversation
                                                           : "";
    const struct approval item = {.id = a->last_id + 1,
                                  .scope = scope,
                                  .agent = xstrdup(agent),
                                  .where = xstrdup(where ? where : ""),
                                  .tool = approvals_summarize(tool),
                                  .by = approvals_summarize(by),
                                  .key = key};
    approvals_append(a, &item);
    write_down(a, &item, argument);
    approvals_report_allowed(a, &item);
    log_write(LOG_INFO, "host", "approval %" PRId64 ": tool %s of agent %s allowed for %s", item.id,
              tool ? tool : "?", agent, scopes[scope]);
}

/* ---- revoking ---- */

void approvals_end_turn(struct approvals *a, const char *turn)
{
    for (size_t i = a->n; i-- > 0;)
        if (a->items[i].scope == APPROVALS_TURN && strcmp(a->items[i].where, turn) == 0)
            approvals_remove_at(a, i);
}

void approvals_end_session(struct approvals *a, const char *agent, const char *conversation)
{
    size_t had = a->n;
    for (size_t i = a->n; i-- > 0;)
        if (a->items[i].scope == APPROVALS_SESSION && strcmp(a->items[i].agent, agent) == 0 &&
            strcmp(a->items[i].where, conversation) == 0)
            approvals_remove_at(a, i);
    if (a->n < had)
        approvals_delete_stored(
            a, &(struct journal_approval_filter){.agent = agent, .conv = conversation});
}

size_t approvals_revoke(struct approvals *a, const struct journal_approval_filter *which,
                        journal_done_fn *done, void *ctx)
{
    const size_t had = a->n;
    if (a->journal)
        journal_async_delete_approvals(a->journal, which, done, ctx);
    for (size_t i = a->n; i-- > 0;)
        if ((!which->id || a->items[i].id == which->id) &&
            (!which->agent || strcmp(a->items[i].agent, which->agent) == 0)) {
            approvals_publish(a, &a->items[i], NULL);
            approvals_remove_at(a, i);
        }
    if (!a->journal && done)
        done(ctx, JOURNAL_DONE, NULL);
    return had - a->n;
}

/* ---- other hosts ---- */

static struct approval *approvals_find_shared(const struct approvals *a, const char *key)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->items[i].scope == APPROVALS_ALWAYS &&
            strcmp(a->items[i].key.text, key + strlen(KEY)) == 0)
            return &a->items[i];
    return NULL;
}

static void approvals_add_shared(struct approvals *a, const char *key, const char *host,
                                 const char *value)
{
    char *const agent = shared_read_text(value, "/agent");
    char *const tool = shared_read_text(value, "/tool"), *const by = shared_read_text(value, "/by");
    approvals_make_room(a);
    struct approval item = {.id = a->last_id + 1,
                            .scope = APPROVALS_ALWAYS,
                            .agent = agent ? agent : xstrdup(""),
                            .where = xstrdup(""),
                            .tool = tool ? tool : xstrdup(""),
                            .by = by ? by : xstrdup("")};
    utf8_copy_truncated(item.key.text, sizeof item.key.text, key + strlen(KEY));
    approvals_append(a, &item);
    write_down(a, &item, "");
    log_write(LOG_INFO, "host",
              "approval %" PRId64 ": tool %s of agent %s was allowed for good on host \"%s\"",
              item.id, item.tool, item.agent, host);
}

static void approvals_on_shared(void *ctx, const char *key, const char *host, const char *value)
{
    struct approvals *const a = ctx;
    const struct approval *const known = approvals_find_shared(a, key);
    if (value && !known)
        approvals_add_shared(a, key, host, value);
    if (value || !known)
        return;
    log_write(LOG_INFO, "host", "approval %" PRId64 " of agent %s was revoked on host \"%s\"",
              known->id, known->agent, host);
    approvals_delete_stored(a, &(struct journal_approval_filter){.id = known->id});
    approvals_remove_at(a, (size_t)(known - a->items));
}

/* Revoked here while the bus was unavailable. */
static void approvals_compare_shared(void *ctx, const char *key, const char *value)
{
    const struct approvals *const a = ctx;
    (void)value;
    if (!approvals_find_shared(a, key))
        shared_put(a->shared, key, NULL);
}

void approvals_join(struct approvals *a, struct shared_settings *shared)
{
    a->shared = shared_user_join(
        shared,
        &(struct shared_user_spec){.prefix = KEY, .changed = approvals_on_shared, .ctx = a});
    shared_each(a->shared, approvals_compare_shared, a);
    for (size_t i = 0; i < a->n; i++) {
        CLEANUP_FREE char *key = xasprintf(KEY "%s", a->items[i].key.text);
        if (!shared_get(a->shared, key))
            approvals_report_allowed(a, &a->items[i]);
    }
}

/* ---- create and free ---- */

static void approvals_add_row(void *ctx, const struct journal_approval *r)
{
    struct approval item = {.id = r->id,
                            .scope = *r->conv ? APPROVALS_SESSION : APPROVALS_ALWAYS,
                            .agent = xstrdup(r->agent),
                            .where = xstrdup(r->conv),
                            .tool = xstrdup(r->tool),
                            .by = xstrdup(r->by)};
    utf8_copy_truncated(item.key.text, sizeof item.key.text, r->key);
    approvals_append(ctx, &item);
}

struct approvals *approvals_new(struct journal_async *journal)
{
    struct approvals *const a = xcalloc(1, sizeof *a);
    a->journal = journal;
    if (journal &&
        journal_async_list_open_list_approvals(journal, approvals_add_row, a) != JOURNAL_DONE)
        log_write(LOG_ERR, "host",
                  "cannot read stored approvals from the journal; agents will ask again");
    return a;
}

void approvals_free(struct approvals *a)
{
    if (!a)
        return;
    while (a->n)
        approvals_remove_at(a, a->n - 1);
    free(a->items);
    free(a);
}
