/* SPDX-License-Identifier: MIT
 * The connector redis: writes each turn into a Redis stream as agenticore does, so that its readers
 * can follow turns of this host (turncast-redis(7); progress.py and event_tailer.py of
 * The-Cloud-Clock-Work/agenticore 1.9.0).
 *
 * Each entry is a request that the host sends in order and repeats; from the answer on, it is
 * durable. The connector chooses the entries' IDs, so that the server recognises a repeat. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "redis_connector.h"

#define CONTENT_MAX ((size_t)512 * 1024) /* limit of a tool's arguments or result in bytes */

static const struct tc_option options[] = {
    TC_OPTION(struct redis_conf, address, "127.0.0.1:6379", 0,
              "HOST:PORT of the server, or the path of its Unix socket"),
    TC_OPTION(struct redis_conf, password, NULL, TC_SECRET, "password of the server"),
    TC_OPTION(struct redis_conf, database, "0", 0, "number of the database"),
    TC_OPTION(struct redis_conf, prefix, "agenticore", 0, "prefix of all keys"),
    TC_OPTION(struct redis_conf, max_entries, "2000", 0,
              "approximate number of entries that a stream keeps"),
    TC_OPTION(struct redis_conf, expire_s, "3600", 0,
              "seconds after its last entry for which a stream is kept"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "database", .kind = TC_RULE_RANGE, .min = 0, .max = 65535},
    {.key = "max_entries", .kind = TC_RULE_RANGE, .min = 1, .max = 1000000},
    {.key = "expire_s", .kind = TC_RULE_RANGE, .min = 1, .max = 31536000},
    {0},
};

/* A text block being streamed: an entry contains a whole block. */
struct redis_block {
    char *text;
    size_t len, cap;
};

struct redis_turn {
    struct redis_block narration, thinking;
    char *told; /* text of the last entry, if it is an assistant_text; or NULL */
    int64_t start_ms;
    uint64_t count; /* number of entries */
};

/* ---- entries ---- */

static const char *redis_format_time(struct tc_turn *turn, double ts)
{
    const time_t s = (time_t)ts;
    struct tm tm;
    char date[32];
    gmtime_r(&s, &tm);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    return tc_sprint(turn, "%s.%06d+00:00", date, (int)((ts - (double)s) * 1e6));
}

/* After a restart, IDs continue behind the earlier ones. */
static void redis_resume_count(struct tc_turn *turn, struct redis_turn *t, const struct tc_meta *m)
{
    if (t->start_ms)
        return;
    t->start_ms = (int64_t)(m->ts * 1000);
    if (turn->memory)
        sscanf(turn->memory, "%" SCNd64 " %" SCNu64, &t->start_ms, &t->count);
}

/* Queues an entry. `flags`: TC_DURABLE or 0. */
static int redis_put(struct tc_turn *turn, const struct tc_meta *m, const char *type,
                     const char *content, uint32_t flags)
{
    struct redis_turn *const t = turn->state;
    redis_resume_count(turn, t, m);
    const char *const id = tc_sprint(turn, "%" PRId64 "-%" PRIu64, t->start_ms, ++t->count);
    const char *const body =
        tc_json(turn, "{s:s, s:s, s:s, s:s, s:s}", "id", id, "type", type, "content", content, "ts",
                redis_format_time(turn, m->ts), "session", m->session_id ? m->session_id : "");
    if (!body)
        return -1;
    free(t->told);
    t->told = strcmp(type, "assistant_text") == 0 ? strdup(content) : NULL;
    tc_remember(turn, tc_sprint(turn, "%" PRId64 " %" PRIu64, t->start_ms, t->count));
    return tc_http(turn, TC_HTTP(.url = "self:", .body = body, .lane = turn->id,
                                 .flags = TC_IDEMPOTENT | flags));
}

/* ---- blocks of text ---- */

static int redis_block_add(struct redis_block *b, const char *text, size_t len)
{
    if (b->len + len + 1 > b->cap) {
        const size_t cap = 2 * (b->len + len + 1);
        char *const grown = realloc(b->text, cap);
        if (!grown)
            return -1;
        b->text = grown;
        b->cap = cap;
    }
    memcpy(b->text + b->len, text, len);
    b->len += len;
    b->text[b->len] = '\0';
    return 0;
}

static int redis_put_block(struct tc_turn *turn, const struct tc_meta *m, struct redis_block *b,
                           const char *type, uint32_t flags)
{
    if (!b->len)
        return 0;
    b->len = 0;
    return redis_put(turn, m, type, b->text, flags);
}

/* At most one block has text. `flags`: for a block of narration. */
static int redis_put_blocks(struct tc_turn *turn, const struct tc_meta *m, uint32_t flags)
{
    struct redis_turn *const t = turn->state;
    const int rc = redis_put_block(turn, m, &t->thinking, "thinking", 0);
    return rc | redis_put_block(turn, m, &t->narration, "assistant_text", flags);
}

/* ---- events ---- */

static int on_narration(struct tc_turn *turn, const struct tc_narration *n)
{
    struct redis_turn *const t = turn->state;
    if (n->meta->parent_id) /* text of a sub-agent is not the answer */
        return 0;
    const int rc = redis_put_block(turn, n->meta, &t->thinking, "thinking", 0);
    return rc | redis_block_add(&t->narration, n->text, n->text_len);
}

static int on_thinking(struct tc_turn *turn, const struct tc_thinking *n)
{
    struct redis_turn *const t = turn->state;
    if (n->meta->parent_id)
        return 0;
    const int rc = redis_put_block(turn, n->meta, &t->narration, "assistant_text", 0);
    return rc | redis_block_add(&t->thinking, n->text, n->text_len);
}

static int on_tool_call(struct tc_turn *turn, const struct tc_tool_call *c)
{
    const int rc = redis_put_blocks(turn, c->meta, 0);
    const char *const args = c->args && c->args_len <= CONTENT_MAX ? c->args : "{}";
    const char *const content =
        tc_json(turn, "{s:s, s:s, s:j}", "id", c->tool_use_id, "name", c->name, "input", args);
    return content ? rc | redis_put(turn, c->meta, "tool_use", content, 0) : -1;
}

/* The longest prefix of at most `len` bytes that ends at a character. */
static size_t redis_cut_text(const char *text, size_t len)
{
    if (len <= CONTENT_MAX)
        return len;
    for (len = CONTENT_MAX; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80;)
        len--;
    return len;
}

static int on_tool_result(struct tc_turn *turn, const struct tc_tool_result *r)
{
    const int rc = redis_put_blocks(turn, r->meta, 0);
    const size_t len = redis_cut_text(r->content, r->content_len);
    const char *const content = tc_json(turn, "{s:s, s:b, s:s%}", "tool_use_id", r->tool_use_id,
                                        "is_error", r->is_error, "output", r->content, len);
    return content ? rc | redis_put(turn, r->meta, "tool_result", content, 0) : -1;
}

/* Sent with the outcome, so that the host stores both at once: a turn with a stored outcome is not
 * delivered again after a restart. */
static int redis_put_done(struct tc_turn *turn, const struct tc_meta *m)
{
    return redis_put(turn, m, "done", "", TC_DURABLE);
}

/* Readers take the last text before "done" as the answer. */
static int on_final(struct tc_turn *turn, const struct tc_final *f)
{
    const struct redis_turn *const t = turn->state;
    int rc = redis_put_blocks(turn, f->meta, TC_DURABLE);
    if (f->text_len && (!t->told || strcmp(t->told, f->text) != 0))
        rc |= redis_put(turn, f->meta, "assistant_text", f->text, TC_DURABLE);
    return rc | redis_put_done(turn, f->meta);
}

static int on_error(struct tc_turn *turn, const struct tc_error *e)
{
    int rc = redis_put_blocks(turn, e->meta, TC_DURABLE);
    const char *const content =
        tc_json(turn, "{s:s, s:s?}", "message", e->message, "code", e->code);
    if (!content)
        return -1;
    rc |= redis_put(turn, e->meta, "error", content, TC_DURABLE);
    return rc | redis_put_done(turn, e->meta);
}

static int on_done(struct tc_turn *turn, const struct tc_done *d)
{
    struct redis_turn *const t = turn->state;
    (void)d;
    free(t->narration.text);
    free(t->thinking.text);
    free(t->told);
    t->narration = t->thinking = (struct redis_block){0};
    t->told = NULL;
    return 0;
}

/* ---- requests ---- */

static void redis_perform(struct tc_turn *turn, const struct tc_reply *reply)
{
    const char *const body = reply->http->body, *why = NULL;
    const struct redis_conf *const conf = turn->inst->conf;
    const struct stream_entry entry = {
        .key = tc_sprint(turn, "%s:events:%s", conf->prefix, turn->id),
        .id = tc_json_get(turn, body, "/id"),
        .type = tc_json_get(turn, body, "/type"),
        .content = tc_json_get(turn, body, "/content"),
        .ts = tc_json_get(turn, body, "/ts"),
        .session_id = tc_json_get(turn, body, "/session"),
        .correlation_id = turn->id,
    };
    const bool repeat = reply->in_doubt || reply->attempts > 1;
    const enum tc_outcome outcome = redis_server_add(turn, &entry, repeat, &why);
    tc_complete(turn, reply->number, TC_COMPLETION(.outcome = outcome, .error = why));
}

static int on_reply(struct tc_turn *turn, const struct tc_reply *reply, struct tc_verdict *verdict)
{
    if (reply->outcome == TC_YOUR_TURN)
        redis_perform(turn, reply);
    else if (verdict->next == TC_NEXT_AGAIN)
        verdict->scope = TC_HOLD_INSTANCE;
    return 0;
}

static void teardown(struct tc_instance *inst)
{
    redis_server_close(inst);
}

TURNCAST_PLUGIN(.name = "redis", .version = "1.0",
                .summary = "turns as Redis streams, as agenticore writes them",
                .flags = TC_DELIVERS | TC_SEES_ALL, .conf_size = sizeof(struct redis_conf),
                .state_size = sizeof(struct redis_state), .turn_size = sizeof(struct redis_turn),
                .options = options, .rules = rules, .teardown = teardown,
                .sink = TC_SINK(.on_narration = on_narration, .on_thinking = on_thinking,
                                .on_tool_call = on_tool_call, .on_tool_result = on_tool_result,
                                .on_final = on_final, .on_error = on_error, .on_done = on_done,
                                .on_reply = on_reply));
