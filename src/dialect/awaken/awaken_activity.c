/* SPDX-License-Identifier: MIT
 * Activities: state events and tool progress; merges tirea's per-field updates into one report. */
#include "dialect/awaken/awaken.h"

#include "event/json/json_reader.h"

#define CALL_NODE "tool_call:"

/* Members of a report. */
struct awaken_report {
    struct str call_id, tool_name, status, progress, loaded, total, message;
    struct str node_id, parent_node_id;
};

struct activity {
    const struct dialect_sink *out;
    struct awaken *a;
    struct str members; /* of the event */
    const char *key;    /* message_id */
    const char *type;
    struct str content, patch;
};

static struct activity read_activity(const struct awaken_event *e)
{
    const char *const key = awaken_text(e, "message_id");
    return (struct activity){.out = e->out,
                             .a = e->a,
                             .members = e->members,
                             .key = key ? key : "",
                             .type = awaken_text(e, "activity_type"),
                             .content = awaken_value(e, "content"),
                             .patch = awaken_value(e, "patch")};
}

static bool awaken_activity_is_progress(const struct activity *act)
{
    return act->type &&
           (strcmp(act->type, "tool-call-progress") == 0 || strcmp(act->type, "progress") == 0);
}

static void awaken_activity_emit_state(const struct activity *act)
{
    static const char *const known[] = {"event_type", "activity_type", "message_id", "content",
                                        "patch",      "replace",       NULL};
    struct event ev;
    event_init(&ev, TC_STATE);
    const struct str replace = value_get_last(act->members, "replace");
    ev.u.state.scope = "activity";
    ev.u.state.op = act->patch.p ? "delta" : "snapshot";
    ev.u.state.key = act->key;
    ev.u.state.activity_type = act->type;
    ev.u.state.value = value_json(act->out->scratch, act->content, NULL);
    ev.u.state.patch = value_json(act->out->scratch, act->patch, NULL);
    ev.u.state.replace = replace.p ? value_is_true(replace) : -1;
    ev.meta.x = value_extra_except(act->out->scratch, act->members, known);
    dialect_emit_draft(act->out, &ev);
}

static const char *awaken_activity_phase_of(struct str status)
{
    static const char *const phases[][2] = {{"pending", "preparing"},
                                            {"running", "running"},
                                            {"done", "done"},
                                            {"failed", "failed"},
                                            {"cancelled", "cancelled"}};
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
        if (value_equals(status, phases[i][0]))
            return phases[i][1];
    return NULL;
}

/* The call: named in the report, otherwise by the id of the stream. */
static const char *awaken_activity_call_of(const struct activity *act,
                                           const struct awaken_report *r)
{
    const char *const said = value_text(act->out->scratch, r->call_id, NULL);
    if (said)
        return said;
    if (strncmp(act->key, CALL_NODE, strlen(CALL_NODE)) == 0)
        return act->key + strlen(CALL_NODE);
    return open_calls_contains(&act->a->open, act->key) ? act->key : NULL;
}

static void awaken_activity_emit_progress(const struct activity *act, const struct awaken_report *r,
                                          const char *x)
{
    struct event ev;
    struct arena *const scratch = act->out->scratch;
    event_init(&ev, TC_PROGRESS);
    struct tc_progress *const p = &ev.u.progress;
    const double ratio = value_real(r->progress, -1);
    p->tool_use_id = awaken_activity_call_of(act, r);
    p->name = value_text(scratch, r->tool_name, NULL);
    p->phase = awaken_activity_phase_of(r->status);
    p->message = value_text(scratch, r->message, NULL);
    p->percent = ratio < 0 ? -1 : ratio * 100;
    p->loaded = value_real(r->loaded, -1);
    p->total = value_real(r->total, -1);
    p->node_id = value_text(scratch, r->node_id, NULL);
    if (!p->node_id)
        p->node_id = act->key;
    p->parent_node_id = value_text(scratch, r->parent_node_id, NULL);
    ev.meta.x = x ? arena_sprintf(scratch, "{\"activity_type\":\"%s\",%s", act->type, x + 1)
                  : arena_sprintf(scratch, "{\"activity_type\":\"%s\"}", act->type);
    dialect_emit_draft(act->out, &ev);
}

static void awaken_activity_emit_snapshot(const struct activity *act)
{
    static const char *const known[] = {"call_id", "tool_name",      "status",  "progress",
                                        "loaded",  "total",          "message", "node_id",
                                        "type",    "parent_node_id", NULL};
    struct awaken_report r = {0};
    const struct value_row rows[] = {
        {"call_id", &r.call_id},
        {"tool_name", &r.tool_name},
        {"status", &r.status},
        {"progress", &r.progress},
        {"loaded", &r.loaded},
        {"total", &r.total},
        {"message", &r.message},
        {"node_id", &r.node_id},
        {"parent_node_id", &r.parent_node_id},
    };
    value_get_members(act->content, VALUE_ROWS(rows));
    awaken_activity_emit_state(act);
    awaken_activity_emit_progress(act, &r,
                                  value_extra_except(act->out->scratch, act->content, known));
}

/* Extracts patch operations that set a member of the report; the complete patch is in the emitted
 * state. */
static void awaken_activity_emit_delta(const struct activity *act)
{
    struct awaken_report r = {0};
    const struct {
        const char *path;
        struct str *value;
    } paths[] = {{"/status", &r.status}, {"/progress", &r.progress}, {"/loaded", &r.loaded},
                 {"/total", &r.total},   {"/message", &r.message},   {"/tool_name", &r.tool_name}};
    struct json j;
    struct str op;
    bool any = false;
    awaken_activity_emit_state(act);
    if (!json_reader_open_array(&j, act->patch))
        return;
    while (json_reader_next_value(&j, &op)) {
        const struct str kind = value_get_last(op, "op"), path = value_get_last(op, "path");
        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
            if (value_equals(path, paths[i].path) &&
                (value_equals(kind, "add") || value_equals(kind, "replace"))) {
                *paths[i].value = value_get_last(op, "value");
                any = true;
            }
    }
    if (any)
        awaken_activity_emit_progress(act, &r, NULL);
}

/* The slot of that key; a new key replaces the least recently used. */
static struct awaken_activity *find_slot(const struct activity *act)
{
    struct awaken *const a = act->a;
    struct awaken_activity *slot = &a->activities[0];
    for (size_t i = 0; i < AWAKEN_ACTIVITIES; i++) {
        struct awaken_activity *const at = &a->activities[i];
        if (at->used && strcmp(at->key.p, act->key) == 0) {
            at->used = ++a->clock;
            return at;
        }
        if (at->used < slot->used)
            slot = at;
    }
    if (slot->used)
        awaken_settle_activity(a, act->out, slot->key.p);
    buf_reset(&slot->key);
    buf_add_str(&slot->key, act->key);
    buf_reset(&slot->pending);
    slot->published = -1;
    slot->used = ++a->clock;
    return slot;
}

static bool awaken_activity_is_complete(struct str content)
{
    static const char *const needed[] = {"type", "schema", "node_id", "call_id", "status"};
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        if (!value_get_last(content, needed[i]).p)
            return false;
    return true;
}

/* Handles one of sixteen fields: the time stamp is sent last, and a new one completes the
 * report. */
static void awaken_activity_read_piece(const struct activity *act)
{
    struct awaken_activity *const slot = find_slot(act);
    const int64_t updated = value_int(value_get_last(act->content, "updated_at_ms"), -1);
    if (awaken_activity_is_complete(act->content) && updated >= 0 && updated != slot->published) {
        slot->published = updated;
        buf_reset(&slot->pending);
        awaken_activity_emit_snapshot(act);
        return;
    }
    buf_reset(&slot->pending);
    buf_add(&slot->pending, act->members.p, act->members.len);
    slot->pending_ts = act->out->ts;
}

void awaken_handle_activity_snapshot(const struct awaken_event *e)
{
    const struct activity act = read_activity(e);
    if (!awaken_activity_is_progress(&act))
        awaken_activity_emit_state(&act);
    else if (e->enveloped && value_get_last(act.content, "call_id").p)
        awaken_activity_read_piece(&act);
    else
        awaken_activity_emit_snapshot(&act);
}

void awaken_handle_activity_delta(const struct awaken_event *e)
{
    const struct activity act = read_activity(e);
    if (awaken_activity_is_progress(&act))
        awaken_activity_emit_delta(&act);
    else
        awaken_activity_emit_state(&act);
}

static void awaken_activity_emit_pending(struct awaken *a, const struct dialect_sink *out,
                                         struct awaken_activity *slot)
{
    struct awaken_event e = {.a = a, .members = {slot->pending.p, slot->pending.len}};
    struct dialect_sink then = *out;
    if (!slot->pending.len)
        return;
    then.ts = slot->pending_ts;
    e.out = &then;
    const struct activity act = read_activity(&e);
    awaken_activity_emit_snapshot(&act);
    buf_reset(&slot->pending);
}

/* Here the key is the id of a call, and possibly that of its node. */
void awaken_settle_activity(struct awaken *a, const struct dialect_sink *out, const char *key)
{
    for (size_t i = 0; i < AWAKEN_ACTIVITIES; i++) {
        struct awaken_activity *const slot = &a->activities[i];
        if (!slot->used)
            continue;
        const bool node = strncmp(slot->key.p, CALL_NODE, strlen(CALL_NODE)) == 0;
        if (!key || strcmp(slot->key.p, key) == 0 ||
            (node && strcmp(slot->key.p + strlen(CALL_NODE), key) == 0))
            awaken_activity_emit_pending(a, out, slot);
    }
}

void awaken_activity_fini(struct awaken_activity *activity)
{
    buf_fini(&activity->key);
    buf_fini(&activity->pending);
}
