/* SPDX-License-Identifier: MIT
 * Life of a claude stream: start, owner of each line, and dispatch. */
#include "dialect/claude/claude.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "dialect/claude/input/claude_input.h"

void claude_emit(struct claude *c, const struct claude_lane *lane, struct event *ev)
{
    /* If the guard has to create the final, it cannot know that this is another turn's. */
    if (c->closed && !c->answered && ev->kind != TC_NOTICE)
        return;
    c->answered |= ev->kind == TC_FINAL || ev->kind == TC_ERROR;
    const bool child = lane && lane->parent.len;
    if (child || !c->ident.told)
        ev->meta.session_id = c->ident.session.p ? c->ident.session.p : "";
    if (child) {
        ev->meta.parent_id = lane->parent.p;
        ev->meta.agent = lane->agent.len ? lane->agent.p : NULL;
    }
    c->ident.told |= !child;
    dialect_emit_draft(c->out, ev);
}

void claude_notice(struct claude *c, const char *level, const char *code, const char *text,
                   struct str line)
{
    static const char *const skip[] = {"type", "subtype", "session_id", "uuid",
                                       "text", "content", "message",    NULL};
    struct event ev;
    event_init_notice(&ev, level, code, text);
    if (line.p)
        ev.meta.x = value_extra_except(c->out->scratch, line, skip);
    claude_emit(c, NULL, &ev);
}

void claude_raw(struct claude *c, const struct claude_lane *lane, const char *name,
                struct str value)
{
    struct event ev;
    event_init(&ev, TC_RAW);
    ev.u.raw.dialect = c->profile->dialect;
    ev.u.raw.event = json_reader_compact_dup(c->out->scratch, value, &ev.u.raw.event_len);
    ev.u.raw.name = name;
    claude_emit(c, lane, &ev);
}

const char *claude_unescape(struct claude *c, struct str raw, size_t *len)
{
    const struct buf *const known = json_reader_memo_text(&c->shape.memo, raw);
    if (!known)
        return json_reader_unescape(c->out->scratch, raw, len);
    if (len)
        *len = known->len;
    return known->p;
}

char *claude_text(struct claude *c, struct str value)
{
    return value_text(c->out->scratch, value, NULL);
}

void claude_set_unescaped(struct claude *c, struct buf *to, struct str raw)
{
    size_t len = 0;
    const char *const text = claude_unescape(c, raw, &len);
    buf_reset(to);
    if (text)
        buf_add(to, text, len);
}

/* Codes are short ASCII words: cuts a longer one, and replaces other bytes by underscores. */
void claude_copy_code(char *to, size_t size, struct str raw)
{
    const size_t len = raw.len < size ? raw.len : size - 1;
    for (size_t i = 0; i < len; i++) {
        const char c = raw.p[i];
        const bool good = (c > ' ') & (c <= '~') & (c != '\\');
        to[i] = good ? c : '_';
    }
    to[len] = '\0';
}

void claude_ids_add(struct claude_ids *ids, const char *id)
{
    char **const slot = &ids->ids[ids->next++ % CLAUDE_IDS];
    free(*slot);
    *slot = xstrdup(id);
}

static size_t ids_find(const struct claude_ids *ids, const char *id)
{
    size_t i = 0;
    while (i < CLAUDE_IDS && (!ids->ids[i] || strcmp(ids->ids[i], id) != 0))
        i++;
    return i;
}

bool claude_ids_has(const struct claude_ids *ids, const char *id)
{
    return ids_find(ids, id) < CLAUDE_IDS;
}

bool claude_ids_remove(struct claude_ids *ids, const char *id)
{
    const size_t i = ids_find(ids, id);
    if (i == CLAUDE_IDS)
        return false;
    free(ids->ids[i]);
    ids->ids[i] = NULL;
    return true;
}

static void ids_fini(struct claude_ids *ids)
{
    for (size_t i = 0; i < CLAUDE_IDS; i++)
        free(ids->ids[i]);
}

static void claude_set_session(struct claude *c, struct str raw)
{
    if (!raw.len)
        return;
    c->ident.told = false;
    buf_reset(&c->ident.session_raw);
    buf_add(&c->ident.session_raw, raw.p, raw.len);
    claude_set_unescaped(c, &c->ident.session, raw);
}

static bool is_session(const struct claude *c, struct str raw)
{
    return str_equal(raw, (struct str){c->ident.session_raw.p, c->ident.session_raw.len});
}

/* Further members of a start; of tools only the number, because the list is long. */
static char *start_extra(struct claude *c, struct str line, struct str tools)
{
    int64_t count = 0;
    struct json j;
    json_reader_open_array(&j, tools);
    for (; json_reader_next_element(&j); count++)
        json_reader_skip(&j, NULL);
    const char *const rest = value_extra_only(c->out->scratch, line, c->profile->start_keys);
    return arena_sprintf(c->out->scratch, "{\"tool_count\":%lld%s%s", (long long)count,
                         rest ? "," : "}", rest ? rest + 1 : "");
}

static void claude_emit_start(struct claude *c, const struct claude_line *l)
{
    struct str model = {0}, tools = {0};
    const struct value_row wants[] = {{"model", &model}, {"tools", &tools}};
    value_get_members(l->self, VALUE_ROWS(wants));
    claude_set_session(c, l->session_id);
    claude_set_unescaped(c, &c->ident.model, value_string(model));
    c->has_uuids |= claude_answers_user(l->self);
    struct event ev;
    event_init(&ev, TC_START);
    ev.u.start.provider = c->profile->provider;
    ev.u.start.model = c->ident.model.len ? c->ident.model.p : NULL;
    ev.u.start.source = c->begun_by ? c->begun_by : c->profile->source;
    ev.meta.x = start_extra(c, l->self, tools);
    claude_emit(c, NULL, &ev);
}

/* Every turn of a process begins with an init; only the first one is a start. */
static void init_again(struct claude *c, const struct claude_line *l)
{
    claude_work_init(c);
    if (is_session(c, l->session_id) || !l->session_id.len)
        return;
    const bool changed = c->ident.session.len > 0;
    const char *const old = changed ? arena_strdup(c->out->scratch, c->ident.session.p) : "";
    claude_set_session(c, l->session_id);
    if (changed)
        claude_notice(
            c, "info", "session_changed",
            arena_sprintf(c->out->scratch, "The agent switched away from session %s.", old),
            (struct str){0});
}

static void lane_free(struct claude_lane *lane)
{
    claude_lane_fini(lane);
    free(lane);
}

/* A slot for another sub-agent: a free one, or the least recently used. */
static struct claude_lane **lane_slot(struct claude *c)
{
    struct claude_lane **oldest = &c->subs[0];
    for (size_t i = 0; i < CLAUDE_LANES; i++) {
        if (!c->subs[i])
            return &c->subs[i];
        if (c->subs[i]->used < (*oldest)->used)
            oldest = &c->subs[i];
    }
    claude_message_finish(c, *oldest);
    lane_free(*oldest);
    *oldest = NULL;
    return oldest;
}

static struct claude_lane *claude_get_lane(struct claude *c, const struct claude_line *l)
{
    if (!l->parent.len)
        return &c->main;
    struct claude_lane *lane = NULL;
    for (size_t i = 0; i < CLAUDE_LANES && !lane; i++)
        if (c->subs[i] && str_equal(l->parent, (struct str){c->subs[i]->parent_raw.p,
                                                            c->subs[i]->parent_raw.len}))
            lane = c->subs[i];
    if (!lane) {
        lane = *lane_slot(c) = xcalloc(1, sizeof(*lane));
        buf_add(&lane->parent_raw, l->parent.p, l->parent.len);
        claude_set_unescaped(c, &lane->parent, l->parent);
    }
    if (l->agent_id.len && !lane->agent.len)
        claude_set_unescaped(c, &lane->agent, l->agent_id);
    lane->used = c->lines;
    return lane;
}

/* The sub-agent of this call has reported: nothing of it follows. */
static void close_lane(struct claude *c, struct str tool_use_id)
{
    for (size_t i = 0; i < CLAUDE_LANES; i++) {
        struct claude_lane *const lane = c->subs[i];
        if (!lane ||
            !str_equal(tool_use_id, (struct str){lane->parent_raw.p, lane->parent_raw.len}))
            continue;
        claude_message_finish(c, lane);
        lane_free(lane);
        c->subs[i] = NULL;
    }
}

static void user_block(struct claude *c, struct claude_lane *lane,
                       const struct claude_content *content, const struct claude_line *l)
{
    if (str_is(content->type, "tool_result")) {
        claude_settle_tool(c, lane, content->tool_use_id);
        claude_tool_result(c, lane, content, l);
        close_lane(c, content->tool_use_id);
    } else if (str_is(content->type, "text") && lane == &c->main && !l->replay) {
        if (str_has_prefix(content->text, STR("[Request interrupted by user")))
            c->interrupted = true;
        /* Without partial messages, only this shows that the limit was reached. */
        if (l->synthetic && str_has_prefix(content->text, STR("Output token limit hit")))
            c->main.message.cut = true;
    }
}

/* User lines: results of tools, and messages of the host to the model. */
static void handle_user(struct claude *c, const struct claude_line *l)
{
    struct claude_lane *const lane = claude_get_lane(c, l);
    c->steps.asked |= lane == &c->main;
    claude_api_error_passed(c);
    if (!l->body.blocks.p) {
        user_block(c, lane, &l->body.block, l);
        return;
    }
    struct json j;
    json_reader_open_array(&j, l->body.blocks);
    while (json_reader_next_element(&j)) {
        struct claude_content content;
        claude_content_read(&j, &content);
        user_block(c, lane, &content, l);
    }
}

static void handle_stream_event(struct claude *c, const struct claude_line *l)
{
    claude_stream_event(c, claude_get_lane(c, l), l);
}

static void handle_assistant(struct claude *c, const struct claude_line *l)
{
    claude_handle_assistant(c, claude_get_lane(c, l), l);
}

static void handle_nothing(struct claude *c, const struct claude_line *l)
{
    (void)c;
    (void)l;
}

static void handle_other(struct claude *c, const struct claude_line *l)
{
    const char *const type = claude_unescape(c, l->type, NULL);
    const char *const subtype = claude_unescape(c, l->subtype, NULL);
    const char *name = type;
    if (type && subtype)
        name = arena_sprintf(c->out->scratch, "%s/%s", type, subtype);
    claude_raw(c, NULL, name, l->self);
}

static void handle_lifecycle(struct claude *c, const struct claude_line *l)
{
    claude_work_lifecycle(c, l);
    if (c->closed && value_get_last(l->self, "wakeup_source").p)
        c->begun_by = "timer";
    handle_other(c, l);
}

struct handler {
    const char *type;
    void (*handle)(struct claude *c, const struct claude_line *l);
    bool starts; /* the line belongs to a turn: stop waiting for an init */
};

static const struct handler handlers[] = {
    {"stream_event", handle_stream_event, true},
    {"assistant", handle_assistant, true},
    {"user", handle_user, true},
    {"result", claude_result, true},
    {"system", claude_handle_system, false},
    {"tool_progress", claude_tool_progress, false},
    {"rate_limit_event", claude_rate_limit, false},
    {"control_request", claude_control_request, false},
    {"control_cancel_request", claude_control_cancel, false},
    {"control_response", claude_control_response, false},
    {"keep_alive", handle_nothing, true},
    {"command_lifecycle", handle_lifecycle, false},
};

static const struct handler *find_handler(const struct claude_line *l)
{
    static const struct handler other = {NULL, handle_other, false};
    for (size_t i = 0; i < sizeof(handlers) / sizeof(*handlers); i++)
        if (str_is(l->type, handlers[i].type))
            return &handlers[i];
    return &other;
}

/* Emits lines from before the start, after the start was emitted, or when there is none. */
static void claude_release_early(struct claude *c)
{
    struct buf early = c->early.lines;
    c->early.lines = (struct buf){0};
    for (size_t at = 0; at < early.len;) {
        const char *const p = early.p + at;
        const char *const newline = memchr(p, '\n', early.len - at);
        struct claude_line l;
        if (claude_line_parse(&l, p, (size_t)(newline - p), NULL) == 0)
            find_handler(&l)->handle(c, &l);
        at = (size_t)(newline - early.p) + 1;
    }
    buf_fini(&early);
    if (c->early.left_out)
        claude_notice(c, "info", "dropped",
                      arena_sprintf(c->out->scratch, "%zu line%s before the start left out",
                                    c->early.left_out, PLURAL(c->early.left_out, "", "s")),
                      (struct str){0});
}

static void claude_store_early(struct claude *c, const struct claude_line *l)
{
    if (c->early.lines.len + l->self.len + 1 > CLAUDE_EARLY_MAX ||
        memchr(l->self.p, '\n', l->self.len)) {
        c->early.left_out++;
        return;
    }
    buf_add(&c->early.lines, l->self.p, l->self.len);
    buf_add_char(&c->early.lines, '\n');
}

/* Returns true if the line was handled. */
static bool claude_before_start(struct claude *c, const struct claude_line *l,
                                const struct handler *handler)
{
    const bool init = str_is(l->type, "system") && str_is(l->subtype, "init");
    if (!init && !handler->starts) {
        claude_store_early(c, l);
        return true;
    }
    if (handler->handle == handle_nothing)
        return true;
    c->started = true;
    c->spent = CLAUDE_NOTHING_SPENT;
    if (init)
        claude_emit_start(c, l);
    else
        claude_set_session(c, l->session_id);
    claude_release_early(c);
    return init;
}

void claude_handle_line(struct claude *c, const struct dialect_sink *out,
                        const struct claude_line *l)
{
    c->out = out;
    c->lines++;
    const struct handler *const handler = find_handler(l);
    if (!c->started && claude_before_start(c, l, handler))
        return;
    if (str_is(l->subtype, "init") && str_is(l->type, "system"))
        init_again(c, l);
    else
        handler->handle(c, l);
}

static int claude_line(void *state, const struct dialect_sink *out, const char *line, size_t len)
{
    static const char *const start_keys[] = {
        "cwd",          "mcp_servers", "permissionMode", "apiKeySource", "claude_code_version",
        "output_style", NULL};
    static const struct claude_profile profile = {"claude", "anthropic", "claude-code", start_keys,
                                                  0,        NULL,        false,         false};
    struct claude *const c = state;
    const struct claude_line *const l = claude_line_cache_parse(&c->shape, line, len);
    if (!l)
        return -1;
    c->profile = &profile;
    claude_handle_line(c, out, l);
    return 0;
}

void claude_finish_subs(struct claude *c)
{
    for (size_t i = 0; i < CLAUDE_LANES; i++)
        if (c->subs[i])
            claude_message_finish(c, c->subs[i]);
}

void claude_end(void *state, const struct dialect_sink *out, const struct stream_end_info *end)
{
    struct claude *const c = state;
    c->out = out;
    if (!c->started)
        claude_release_early(c);
    c->started = true;
    claude_finish_subs(c);
    if (end->how == STREAM_CANCELLED)
        claude_message_retain_open_text(c, &c->main);
    claude_message_finish(c, &c->main);
    claude_step_end(c);
    claude_work_settle(c, out);
    if (end->how == STREAM_CANCELLED)
        claude_result_cancelled(c);
    claude_api_error_passed(c);
}

void claude_close(void *state)
{
    struct claude *const c = state;
    claude_line_cache_fini(&c->shape);
    claude_lane_fini(&c->main);
    for (size_t i = 0; i < CLAUDE_LANES; i++)
        if (c->subs[i])
            lane_free(c->subs[i]);
    claude_answer_fini(&c->answer);
    claude_told_fini(&c->told);
    claude_work_fini(&c->work);
    ids_fini(&c->denied);
    ids_fini(&c->tasks);
    claude_questions_fini(&c->questions);
    struct buf *const bufs[] = {&c->ident.session_raw, &c->ident.session,  &c->ident.model,
                                &c->early.lines,       &c->api_error.text, &c->plan.id,
                                &c->plan.text};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(*bufs); i++)
        buf_fini(bufs[i]);
}

const struct dialect dialect_claude = {
    .name = "claude",
    .summary = "Claude Code: claude -p --output-format stream-json --verbose",
    .state_size = sizeof(struct claude),
    .sniff = claude_sniff,
    .line = claude_line,
    .end = claude_end,
    .close = claude_close,
    .next = claude_next,
    .between = claude_between,
    .begins = claude_begins,
    .work = claude_work_now,
    .settle = claude_work_settle,
    .input = &claude_input,
};
