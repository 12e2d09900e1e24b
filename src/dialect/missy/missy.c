/* SPDX-License-Identifier: MIT
 * Reads the lines of missy's three dialects. */
#include "dialect/missy/missy.h"

#include <stdlib.h>

char *missy_text(const struct missy_event *e, const char *key)
{
    return value_text(e->out->scratch, value_get_last(e->detail, key), NULL);
}

void missy_emit_duplicate(const struct missy_event *e)
{
    struct dialect_sink plain = *e->source;
    plain.ts = e->out->ts;
    dialect_emit_raw(&plain, e->dialect, e->self, e->name);
}

/* Fields common to all events of a record. */
struct missy_sink {
    const struct dialect_sink *to;
    const char *session_id, *agent, *x;
};

static void missy_emit_marked(void *ctx, struct event *ev)
{
    struct missy_sink *const mark = ctx;
    if (mark->session_id)
        ev->meta.session_id = mark->session_id;
    ev->meta.agent = mark->agent;
    if (!ev->meta.x) {
        ev->meta.x = mark->x;
        mark->x = NULL;
    }
    mark->to->emit(mark->to->ctx, ev);
}

/* Merges two objects; either may be NULL. */
static const char *missy_join(struct arena *a, const char *x, const char *more)
{
    if (!x || !more)
        return x ? x : more;
    return arena_sprintf(a, "%.*s,%s", (int)strlen(x) - 1, x, more + 1);
}

static bool is_row(const struct missy_row *row, const char *name)
{
    const size_t len = strlen(row->name);
    return row->name[len - 1] == '.' ? strncmp(row->name, name, len) == 0
                                     : strcmp(row->name, name) == 0;
}

static const struct missy_row *missy_find_row(const struct missy_row *rows, const char *name)
{
    for (; name && rows->name; rows++)
        if (is_row(rows, name))
            return rows;
    return NULL;
}

/* The name of an agent that another agent called. */
static const char *missy_child_of(const struct missy_event *e, struct arena *a)
{
    const bool child = value_get_last(e->detail, "parent_agent_id").p ||
                       value_int(value_get_last(e->detail, "delegation_depth"), 0) > 0;
    const struct str id = value_get_last(e->detail, "agent_id");
    const struct str name = value_get_last(e->detail, "agent_name");
    if (!child)
        return NULL;
    return id.p || name.p ? value_text_or_json(a, id.p ? id : name, NULL) : "agent";
}

static void missy_read_line(struct missy_event *e, const struct missy_row *rows,
                            struct missy_sink *mark, double ts)
{
    const struct dialect_sink *const out = mark->to;
    const struct missy_row *const row = missy_find_row(rows, e->name);
    struct dialect_sink marked = *out;
    marked.emit = missy_emit_marked;
    marked.ctx = mark;
    marked.ts = ts;
    mark->agent = missy_child_of(e, out->scratch);
    e->agent = mark->agent;
    e->out = &marked;
    e->source = out;
    if (row) {
        e->family = row->family;
        if (row->known)
            mark->x = missy_join(out->scratch,
                                 value_extra_except(out->scratch, e->detail, row->known), mark->x);
    }
    e->x = mark->x;
    missy_flush_held_result(e->m, out, e);
    if (!row)
        missy_emit_duplicate(e);
    else if (row->take)
        row->take(e);
}

static int read_audit(void *state, const struct dialect_sink *out, const char *line, size_t len)
{
    static const char *const known[] = {"timestamp", "session_id", "event_type", "detail", NULL};
    struct missy_event e = {.m = state, .dialect = "missy-audit", .self = {line, len}};
    struct str timestamp = {0}, session = {0}, type = {0};
    const struct value_row rows[] = {{"timestamp", &timestamp},
                                     {"session_id", &session},
                                     {"event_type", &type},
                                     {"detail", &e.detail},
                                     {"result", &e.result}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    e.name = value_text(out->scratch, type, NULL);
    struct missy_sink mark = {.to = out,
                              .session_id = value_text(out->scratch, session, NULL),
                              .x = value_extra_except(out->scratch, e.self, known)};
    const double ts = value_time(timestamp);
    missy_read_line(&e, missy_audit_rows, &mark, ts > 0 ? ts : 0);
    return 0;
}

static int read_json(void *state, const struct dialect_sink *out, const char *line, size_t len)
{
    struct missy_event e = {
        .m = state, .dialect = "missy-json", .self = {line, len}, .detail = {line, len}};
    struct str name = {0};
    const struct value_row rows[] = {{"event", &name}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    e.name = value_text(out->scratch, name, NULL);
    struct missy_sink mark = {.to = out};
    missy_read_line(&e, missy_json_rows, &mark, 0);
    return 0;
}

static int read_run(void *state, const struct dialect_sink *out, const char *line, size_t len)
{
    struct missy_event e = {
        .m = state, .dialect = "missy-run", .self = {line, len}, .detail = {line, len}};
    struct str session = {0};
    const struct value_row rows[] = {{"session_id", &session}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    e.name = out->frame_event;
    struct missy_sink mark = {.to = out, .session_id = value_text(out->scratch, session, NULL)};
    missy_read_line(&e, missy_run_rows, &mark, 0);
    return 0;
}

/* A run that reaches the iteration limit has no end event: the guard supplies it. */
static void missy_end_stream(void *state, const struct dialect_sink *out,
                             const struct stream_end_info *end)
{
    struct missy *const m = state;
    missy_flush_held_result(m, out, NULL);
    if (end->how != STREAM_EOF || m->ended || !m->failure.len)
        return;
    dialect_emit_error(out, m->failure.p, NULL);
    dialect_emit_done(out, "error", NULL);
}

/* Both families may report the start of a run. A second start of the same family begins another
 * run, because a run that reaches the iteration limit has no end event. */
static enum dialect_begin begins(const struct missy *m, const struct missy_row *rows,
                                 const char *key, struct str line)
{
    const struct str name = value_get_last(line, key), detail = value_get_last(line, "detail");
    const struct missy_row *row = rows;
    while (row->name && !(missy_is_start(row) && value_equals(name, row->name)))
        row++;
    const bool child = value_get_last(detail, "parent_agent_id").p ||
                       value_int(value_get_last(detail, "delegation_depth"), 0) > 0;
    return row->name && (m->ended || (m->starts & row->family)) && !child ? DIALECT_USERS_TURN
                                                                          : DIALECT_GOES_ON;
}

static enum dialect_begin audit_begins(const void *state, struct str line)
{
    return begins(state, missy_audit_rows, "event_type", line);
}

static enum dialect_begin json_begins(const void *state, struct str line)
{
    return begins(state, missy_json_rows, "event", line);
}

static void missy_close_state(void *state)
{
    struct missy *const m = state;
    missy_calls_fini(m);
    buf_fini(&m->failure);
}

static int sniff_audit(struct str line, const char *event)
{
    (void)event;
    return value_string(value_get_last(line, "event_type")).p && value_get_last(line, "detail").p &&
                   value_string(value_get_last(line, "timestamp")).p
               ? DIALECT_SCORE_CERTAIN
               : 0;
}

static int sniff_json(struct str line, const char *event)
{
    (void)event;
    const struct str name = value_get_last(line, "event");
    for (const struct missy_row *row = missy_json_rows; row->name; row++)
        if (value_equals(name, row->name))
            return value_get_last(line, "type").p ? 0 : DIALECT_SCORE_CERTAIN / 2;
    return 0;
}

static int sniff_run(struct str line, const char *event)
{
    (void)line;
    const struct missy_row *const row = missy_find_row(missy_run_rows, event);
    return row && row->take ? DIALECT_SCORE_CERTAIN : 0;
}

const struct dialect dialect_missy_audit = {
    .name = "missy-audit",
    .summary = "missy's audit log",
    .state_size = sizeof(struct missy),
    .sniff = sniff_audit,
    .line = read_audit,
    .end = missy_end_stream,
    .close = missy_close_state,
    .begins = audit_begins,
};

const struct dialect dialect_missy_json = {
    .name = "missy-json",
    .summary = "missy's JSON progress",
    .state_size = sizeof(struct missy),
    .sniff = sniff_json,
    .line = read_json,
    .end = missy_end_stream,
    .close = missy_close_state,
    .begins = json_begins,
};

const struct dialect dialect_missy_run = {
    .name = "missy-run",
    .summary = "missy's run stream (named server-sent events)",
    .state_size = sizeof(struct missy),
    .sniff = sniff_run,
    .line = read_run,
    .end = missy_end_stream,
    .close = missy_close_state,
};
