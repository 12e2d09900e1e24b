/* SPDX-License-Identifier: MIT
 * Reads a Claude Code session file: lines, and start and end of its turns. */
#include "dialect/claude_session/claude_session.h"

#include <stdlib.h>

#include "dialect/reader/dialect_emit.h"
#include "event/json/json_reader.h"

char *claude_session_text(const struct claude_session_line *l, struct str value)
{
    return value_text(l->out->scratch, value, NULL);
}

struct str claude_session_value(const struct claude_session_line *l, const char *key)
{
    return value_get_last(l->self, key);
}

static void claude_session_set(struct buf *to, const char *text)
{
    buf_reset(to);
    buf_add_str(to, text ? text : "");
}

void claude_session_emit(const struct claude_session_line *l, struct event *ev)
{
    ev->meta.agent = l->agent;
    if (l->c->session.len)
        ev->meta.session_id = l->c->session.p;
    dialect_emit_draft(l->out, ev);
}

void claude_session_notice(const struct claude_session_line *l, const char *level, const char *code,
                           const char *text)
{
    struct event ev;
    event_init_notice(&ev, level, code, text);
    claude_session_emit(l, &ev);
}

static void claude_session_emit_raw(const struct claude_session_line *l)
{
    const char *const type = claude_session_text(l, l->type);
    const char *const subtype = claude_session_text(l, l->subtype);
    dialect_emit_raw(l->out, "claude-session", l->self,
                     subtype ? arena_sprintf(l->out->scratch, "%s/%s", type ? type : "", subtype)
                             : type);
}

/* Emits events after the start, or keeps them until then. */
static void claude_session_raw(const struct claude_session_line *l)
{
    if (l->c->started)
        claude_session_emit_raw(l);
    else
        prestart_append(&l->c->early, l->out->scratch, l->self);
}

static void claude_session_replay_early(void *ctx, struct str line)
{
    struct claude_session_line early = *(const struct claude_session_line *)ctx;
    early.self = line;
    early.type = value_get_last(line, "type");
    early.subtype = value_get_last(line, "subtype");
    claude_session_emit_raw(&early);
}

/* Kinds of lines that may begin a turn. */

enum said {
    SAID_BLOCKS,  /* results of tools, notes */
    SAID_PROMPT,  /* a message of the user */
    SAID_WAKE,    /* of a timer */
    SAID_REPORT,  /* the end of a task, which the model is told at once */
    SAID_NOTE,    /* the end of a task, passed to the model later */
    SAID_COMMAND, /* a slash command */
    SAID_OUTPUT,  /* output of a slash command */
    SAID_ASIDE,   /* text for the model only */
};

static bool begins_with(struct str text, const char *prefix)
{
    return str_has_prefix(text, (struct str){prefix, strlen(prefix)});
}

/* The text, or the first block that is not a result. */
static struct str prompt_of(struct str content)
{
    if (value_string(content).p)
        return value_string(content);
    struct json j;
    struct str block;
    struct str first = {0};
    json_reader_open_array(&j, content);
    while (json_reader_next_value(&j, &block)) {
        if (value_equals(value_get_last(block, "type"), "tool_result"))
            return (struct str){0};
        if (!first.p)
            first = value_string(value_get_last(block, "text"));
    }
    return first;
}

static enum said classify_user_line(struct str line)
{
    const struct str text = prompt_of(value_get_last(value_get_last(line, "message"), "content"));
    const struct str origin = value_get_last(line, "turnOrigin");
    if (!text.p || begins_with(text, "[Request interrupted"))
        return SAID_BLOCKS;
    if (value_equals(origin, "scheduled"))
        return SAID_WAKE;
    if (value_equals(origin, "task_notification"))
        return SAID_REPORT;
    if (value_equals(value_get_last(value_get_last(line, "origin"), "kind"), "task-notification"))
        return SAID_NOTE;
    if (value_is_true(value_get_last(line, "isMeta")) ||
        value_is_true(value_get_last(line, "isCompactSummary")))
        return SAID_ASIDE;
    if (begins_with(text, "<command-"))
        return SAID_COMMAND;
    return begins_with(text, "<local-command-") || begins_with(text, "<bash-") ? SAID_OUTPUT
                                                                               : SAID_PROMPT;
}

static bool is_stopped(const struct claude_session *c)
{
    return c->stop.len && strcmp(c->stop.p, "tool_use") != 0;
}

static bool claude_session_is_over(const struct claude_session *c)
{
    return is_stopped(c) || c->interrupted || c->error.len;
}

static bool is_side(const struct claude_session *c, struct str line)
{
    return !c->side && c->begun && value_is_true(value_get_last(line, "isSidechain"));
}

/* A slash command begins a turn only if the model answers it. */
static enum dialect_begin claude_session_begins_turn(const void *state, struct str line)
{
    const struct claude_session *const c = state;
    const struct str type = value_get_last(line, "type");
    if (!c->started || is_side(c, line))
        return DIALECT_GOES_ON;
    if (value_equals(type, "assistant"))
        return c->command.len && claude_session_is_over(c) ? DIALECT_USERS_TURN : DIALECT_GOES_ON;
    if (!value_equals(type, "user"))
        return DIALECT_GOES_ON;
    const enum said said = classify_user_line(line);
    if (said == SAID_PROMPT)
        return DIALECT_USERS_TURN;
    return said == SAID_WAKE || said == SAID_REPORT ? DIALECT_AGENTS_TURN : DIALECT_GOES_ON;
}

/* 0: unknown. */
static uint64_t parent_turn(const struct claude_session_line *l)
{
    return l->self.p ? claude_session_turn_of(&l->c->chain,
                                              value_string(claude_session_value(l, "parentUuid")))
                     : 0;
}

static void claude_session_emit_start(const struct claude_session_line *l, const char *source,
                                      const char *task)
{
    static const char *const kept[] = {"cwd", "gitBranch", "version", "permissionMode", NULL};
    struct claude_session *const c = l->c;
    struct event ev;
    if (c->started)
        return;
    c->started = true;
    c->cost = -1;
    event_init(&ev, TC_START);
    ev.u.start.provider = "anthropic";
    ev.u.start.model = c->model.len ? c->model.p : NULL;
    ev.u.start.source = source;
    ev.u.start.task = task;
    ev.meta.x = l->self.p ? value_extra_only(l->out->scratch, l->self, kept) : NULL;
    claude_session_emit(l, &ev);
    struct claude_session_line early = *l;
    prestart_replay(&c->early, claude_session_replay_early, &early);
    const uint64_t parent = parent_turn(l);
    if (parent && parent + 1 < c->turn)
        claude_session_notice(l, "info", "branch",
                              "This turn does not follow the one before it in the file.");
}

static void claude_session_emit_user_message(const struct claude_session_line *l, const char *text,
                                             const char *id)
{
    struct event ev;
    event_init(&ev, TC_MESSAGE);
    ev.u.message.role = "user";
    ev.u.message.text = text;
    ev.u.message.text_len = strlen(text);
    ev.u.message.message_id = id;
    claude_session_emit(l, &ev);
}

/* Extracts from "<summary>Agent "Count" finished</summary>" which task has ended. */
static const char *summary_of(const struct claude_session_line *l, const char *text)
{
    const char *const open = strstr(text, "<summary>");
    const char *const close = open ? strstr(open, "</summary>") : NULL;
    return close ? arena_strndup(l->out->scratch, open + 9, (size_t)(close - open) - 9)
                 : "a task has ended";
}

static void claude_session_read_prompt(const struct claude_session_line *l, const char *source,
                                       const char *text)
{
    claude_session_emit_start(l, source, text);
    claude_session_emit_user_message(l, text,
                                     claude_session_text(l, claude_session_value(l, "uuid")));
}

static void claude_session_read_note(const struct claude_session_line *l, const char *text)
{
    claude_session_emit_start(l, "background_task", NULL);
    claude_session_notice(l, "info", "task_notification", summary_of(l, text));
}

/* "<command-name>/model</command-name> …": the name, until the model answers. */
static void claude_session_read_command(const struct claude_session_line *l, const char *text)
{
    const char *const open = strstr(text, "<command-name>");
    const char *const name = open ? open + 14 : text;
    buf_reset(&l->c->command);
    buf_add(&l->c->command, name, strcspn(name, "<"));
    claude_session_raw(l);
}

static void claude_session_read_user(const struct claude_session_line *l)
{
    const enum said said = classify_user_line(l->self);
    const struct str raw = prompt_of(l->content);
    const char *const text = raw.p ? json_reader_unescape(l->out->scratch, raw, NULL) : "";
    if (said == SAID_BLOCKS || l->agent) {
        claude_session_blocks(l);
        return;
    }
    claude_session_flush(l->c, l->out);
    if (said == SAID_PROMPT)
        claude_session_read_prompt(l, "claude-code", text);
    else if (said == SAID_WAKE)
        claude_session_read_prompt(l, "timer", text);
    else if (said == SAID_REPORT)
        claude_session_read_note(l, text);
    else if (said == SAID_NOTE && l->c->started)
        claude_session_notice(l, "info", "task_notification", summary_of(l, text));
    else if (said == SAID_COMMAND)
        claude_session_read_command(l, text);
    else
        claude_session_raw(l);
}

static void claude_session_read_assistant(const struct claude_session_line *l)
{
    struct claude_session *const c = l->c;
    if (!c->started && c->command.len)
        claude_session_read_prompt(l, "claude-code", arena_strdup(l->out->scratch, c->command.p));
    else
        claude_session_emit_start(l, "claude-code", NULL);
    buf_reset(&c->command);
    claude_session_assistant(l);
}

/* Around the turns. */

static void claude_session_read_system(const struct claude_session_line *l)
{
    const char *const content = claude_session_text(l, claude_session_value(l, "content"));
    if (!l->c->started) {
        claude_session_raw(l);
    } else if (value_equals(l->subtype, "api_error")) {
        const struct str error = claude_session_value(l, "error");
        const char *const text = claude_session_text(l, value_get_last(error, "formatted"));
        claude_session_notice(l, "warn", "api_retry", text ? text : "the API failed");
    } else if (value_equals(l->subtype, "compact_boundary")) {
        claude_session_notice(l, "info", "compact_boundary", content ? content : "");
    } else {
        claude_session_raw(l);
    }
}

/* A message, or the end of a task, that joined the running turn. */
static void claude_session_read_attachment(const struct claude_session_line *l)
{
    const struct str attachment = claude_session_value(l, "attachment");
    const char *const text = claude_session_text(l, value_get_last(attachment, "prompt"));
    const bool queued = value_equals(value_get_last(attachment, "type"), "queued_command");
    if (!queued || !text || l->agent || !l->c->started)
        claude_session_raw(l);
    else if (strncmp(text, "<task-notification>", 19) == 0)
        claude_session_notice(l, "info", "task_notification", summary_of(l, text));
    else
        claude_session_emit_user_message(
            l, text, claude_session_text(l, value_get_last(attachment, "source_uuid")));
}

/* A running total, written when the process ends: the cost of this turn, if no other turn has ended
 * since the previous total. */
static void claude_session_read_cost(const struct claude_session_line *l)
{
    struct claude_session *const c = l->c;
    const double total = value_real(claude_session_value(l, "totalCostUSD"), -1);
    if (total >= 0) {
        if (c->started && c->uncosted == 0 && total >= c->cost_seen)
            c->cost = total - c->cost_seen;
        c->cost_seen = total;
        c->uncosted = 0;
    }
    claude_session_raw(l);
}

static const struct {
    const char *type;
    void (*take)(const struct claude_session_line *l);
} types[] = {
    {"assistant", claude_session_read_assistant}, {"user", claude_session_read_user},
    {"system", claude_session_read_system},       {"attachment", claude_session_read_attachment},
    {"cost-state", claude_session_read_cost},
};

static void claude_session_dispatch(const struct claude_session_line *l)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (value_equals(l->type, types[i].type)) {
            types[i].take(l);
            return;
        }
    claude_session_raw(l);
}

/* Another process continues an older turn. */
static bool is_foreign(const struct claude_session_line *l)
{
    const struct claude_session *const c = l->c;
    const uint64_t parent = parent_turn(l);
    const bool says = value_equals(l->type, "assistant") ||
                      (value_equals(l->type, "user") && classify_user_line(l->self) == SAID_BLOCKS);
    return says && c->started && parent && parent < c->turn;
}

static void claude_session_record_line(struct claude_session *c,
                                       const struct claude_session_line *l)
{
    const struct str uuid = value_string(claude_session_value(l, "uuid"));
    const char *const session = claude_session_text(l, claude_session_value(l, "sessionId"));
    const uint64_t parent = parent_turn(l);
    if (session)
        claude_session_set(&c->session, session);
    if (uuid.p && !c->begun) {
        c->begun = true;
        c->side = value_is_true(claude_session_value(l, "isSidechain"));
    }
    claude_session_link(&c->chain, uuid, is_foreign(l) ? parent : c->turn);
}

static int claude_session_read_line(void *state, const struct dialect_sink *out, const char *line,
                                    size_t len)
{
    struct claude_session *const c = state;
    struct claude_session_line l = {.c = c, .self = {line, len}};
    struct str timestamp = {0};
    const struct value_row rows[] = {{"type", &l.type},
                                     {"subtype", &l.subtype},
                                     {"message", &l.message},
                                     {"timestamp", &timestamp}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    struct dialect_sink timed = *out;
    timed.ts = value_time(timestamp);
    l.out = &timed;
    l.content = value_get_last(l.message, "content");
    c->turn += c->turn == 0;
    if (is_side(c, l.self)) {
        const char *const agent = claude_session_text(&l, claude_session_value(&l, "agentId"));
        l.agent = agent ? agent : "sidechain";
    }
    claude_session_record_line(c, &l);
    if (is_foreign(&l))
        claude_session_raw(&l);
    else
        claude_session_dispatch(&l);
    return 0;
}

/* Ends. */

static void claude_session_emit_usage(struct claude_session *c, const struct dialect_sink *out,
                                      bool failed)
{
    struct event ev;
    if (!c->tally.counted && c->cost < 0)
        return;
    event_init(&ev, TC_USAGE);
    if (c->tally.counted)
        ev.u.usage = c->tally.sum;
    ev.u.usage.scope = "turn";
    ev.u.usage.model = c->model.len ? c->model.p : NULL;
    ev.u.usage.cost_usd = c->cost;
    ev.u.usage.is_error = failed;
    dialect_emit_draft(out, &ev);
}

/* The stop reason of a message gives the outcome of the turn. */
static const char *claude_session_reason_of(const struct claude_session *c)
{
    if (c->interrupted)
        return "cancelled";
    if (strcmp(c->stop.p, "refusal") == 0)
        return "refused";
    return strcmp(c->stop.p, "end_turn") == 0 || strcmp(c->stop.p, "stop_sequence") == 0
               ? "completed"
               : "stopped";
}

static void claude_session_end_turn(void *state, const struct dialect_sink *out)
{
    struct claude_session *const c = state;
    if (c->ended || !c->started)
        return;
    claude_session_flush(c, out);
    c->ended = claude_session_is_over(c);
    if (c->error.len) {
        const char *const code = c->code.len ? c->code.p : NULL;
        dialect_emit_error(out, c->error.p, code);
        claude_session_emit_usage(c, out, true);
        dialect_emit_done(out, "error", code);
    } else if (c->ended) {
        const char *const reason = claude_session_reason_of(c);
        dialect_emit_final(out, c->answer.p, c->answer.len, c->answer_id.p);
        claude_session_emit_usage(c, out, false);
        dialect_emit_done(out, reason, strcmp(reason, "stopped") == 0 ? c->stop.p : NULL);
    }
}

static void claude_session_end_stream(void *state, const struct dialect_sink *out,
                                      const struct stream_end_info *end)
{
    struct claude_session *const c = state;
    if (!c->started && c->early.lines.len)
        claude_session_emit_start(&(struct claude_session_line){.c = c, .out = out}, "claude-code",
                                  NULL);
    claude_session_end_turn(c, out);
    if (!c->ended && end->how == STREAM_EOF)
        claude_session_emit_usage(c, out, true);
}

static enum dialect_work work_now(void *state)
{
    const struct claude_session *const c = state;
    return c->started && !c->ended && claude_session_is_over(c) ? DIALECT_SETTLING
                                                                : DIALECT_NO_WORK;
}

static void claude_session_close_state(void *state)
{
    struct claude_session *const c = state;
    struct buf *const bufs[] = {&c->session, &c->model,     &c->command, &c->message_id, &c->said,
                                &c->answer,  &c->answer_id, &c->error,   &c->code,       &c->stop};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_fini(bufs[i]);
    prestart_fini(&c->early);
    free(c->chain.links);
}

static void claude_session_next_turn(void *state, bool by_agent)
{
    struct claude_session *const c = state;
    struct claude_session old = *c;
    (void)by_agent;
    *c = (struct claude_session){.session = old.session,
                                 .model = old.model,
                                 .command = old.command,
                                 .chain = old.chain,
                                 .turn = old.turn + 1,
                                 .begun = old.begun,
                                 .side = old.side,
                                 .cost_seen = old.cost_seen,
                                 .uncosted = old.cost < 0 ? old.uncosted + 1 : 0};
    old.session = old.model = old.command = (struct buf){0};
    old.chain.links = NULL;
    claude_session_close_state(&old);
}

/* Keys that only session files have, and no stream of the same agent. */
static int claude_session_sniff_line(struct str line, const char *event)
{
    const struct str type = value_get_last(line, "type");
    (void)event;
    if (!value_string(type).p)
        return 0;
    if (value_equals(type, "summary") || value_equals(type, "last-prompt"))
        return value_get_last(line, "leafUuid").p ? DIALECT_SCORE_CERTAIN : 0;
    if (value_equals(type, "file-history-snapshot"))
        return value_get_last(line, "snapshot").p ? DIALECT_SCORE_CERTAIN : 0;
    return value_string(value_get_last(line, "sessionId")).p ? DIALECT_SCORE_CERTAIN : 0;
}

const struct dialect dialect_claude_session = {
    .name = "claude-session",
    .summary = "session files of Claude Code: ~/.claude/projects",
    .state_size = sizeof(struct claude_session),
    .sniff = claude_session_sniff_line,
    .line = claude_session_read_line,
    .end = claude_session_end_stream,
    .close = claude_session_close_state,
    .next = claude_session_next_turn,
    .begins = claude_session_begins_turn,
    .work = work_now,
    .settle = claude_session_end_turn,
};
