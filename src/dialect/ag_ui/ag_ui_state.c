/* SPDX-License-Identifier: MIT
 * Emits states and activities of an AG-UI run. An activity that reports progress of a tool is also
 * emitted as progress. */
#include "dialect/ag_ui/ag_ui.h"
#include "event/json/json_reader.h"

#define CALL_NODE "tool_call:"

static void ag_ui_state_emit_state(const struct ag_ui_event *e, const char *scope, const char *key,
                                   bool delta)
{
    struct event ev;
    event_init(&ev, TC_STATE);
    ev.u.state.scope = scope;
    ev.u.state.op = delta ? "delta" : "snapshot";
    const char *const json = value_json(e->out->scratch, ag_ui_value(e, key), NULL);
    if (delta)
        ev.u.state.patch = json;
    else
        ev.u.state.value = json;
    if (strcmp(scope, "activity") == 0) {
        const struct str replace = ag_ui_value(e, "replace");
        ev.u.state.key = value_text(e->out->scratch, e->message_id, NULL);
        ev.u.state.activity_type = ag_ui_text(e, "activityType");
        ev.u.state.replace = replace.p ? value_is_true(replace) : -1;
    }
    ev.meta.x = e->x;
    ag_ui_emit_event(e, &ev);
}

void ag_ui_handle_state_snapshot(const struct ag_ui_event *e)
{
    ag_ui_state_emit_state(e, "state", "snapshot", false);
}

void ag_ui_handle_state_delta(const struct ag_ui_event *e)
{
    ag_ui_state_emit_state(e, "state", "delta", true);
}

void ag_ui_handle_messages(const struct ag_ui_event *e)
{
    ag_ui_state_emit_state(e, "messages", "messages", false);
}

/* Progress of a tool in an activity. */
struct ag_ui_activity_report {
    struct str call_id, tool_name, status, progress, loaded, total, message, node, parent;
};

static const char *ag_ui_state_phase_of(struct str status)
{
    static const char *const known[] = {"done", "failed", "cancelled"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (value_equals(status, known[i]))
            return known[i];
    return "running";
}

/* The call: named in the activity, or its subject. */
static const char *ag_ui_state_call_of(const struct ag_ui_event *e,
                                       const struct ag_ui_activity_report *r)
{
    const char *const named = value_text(e->out->scratch, r->call_id, NULL);
    const char *const key = value_text(e->out->scratch, e->message_id, NULL);
    const bool node = key && strncmp(key, CALL_NODE, strlen(CALL_NODE)) == 0;
    return named ? named : node ? key + strlen(CALL_NODE) : key;
}

static void ag_ui_state_emit_progress(const struct ag_ui_event *e,
                                      const struct ag_ui_activity_report *r)
{
    struct arena *const scratch = e->out->scratch;
    struct event ev;
    event_init(&ev, TC_PROGRESS);
    struct tc_progress *const p = &ev.u.progress;
    const double ratio = value_real(r->progress, -1);
    p->tool_use_id = ag_ui_state_call_of(e, r);
    p->name = value_text(scratch, r->tool_name, NULL);
    p->phase = ag_ui_state_phase_of(r->status);
    p->message = value_text(scratch, r->message, NULL);
    p->percent = ratio < 0 ? -1 : ratio > 1 ? 100 : ratio * 100;
    p->loaded = value_real(r->loaded, -1);
    p->total = value_real(r->total, -1);
    p->node_id = value_text(scratch, r->node, NULL);
    p->parent_node_id = value_text(scratch, r->parent, NULL);
    ev.meta.x = "{\"activity_type\":\"tool-call-progress\"}";
    ag_ui_emit_event(e, &ev);
}

static bool ag_ui_state_is_progress(const struct ag_ui_event *e)
{
    return value_equals(ag_ui_value(e, "activityType"), "tool-call-progress");
}

void ag_ui_handle_activity_snapshot(const struct ag_ui_event *e)
{
    struct ag_ui_activity_report r = {0};
    const struct value_row rows[] = {
        {"call_id", &r.call_id},   {"tool_name", &r.tool_name},   {"status", &r.status},
        {"progress", &r.progress}, {"loaded", &r.loaded},         {"total", &r.total},
        {"message", &r.message},   {"parent_node_id", &r.parent}, {"node_id", &r.node},
    };
    ag_ui_state_emit_state(e, "activity", "content", false);
    if (!ag_ui_state_is_progress(e))
        return;
    value_get_members(ag_ui_value(e, "content"), VALUE_ROWS(rows));
    ag_ui_state_emit_progress(e, &r);
}

/* Extracts patch operations that set a member of the report. */
void ag_ui_handle_activity_delta(const struct ag_ui_event *e)
{
    struct ag_ui_activity_report r = {0};
    const struct value_row paths[] = {{"/status", &r.status},
                                      {"/progress", &r.progress},
                                      {"/loaded", &r.loaded},
                                      {"/total", &r.total},
                                      {"/message", &r.message}};
    const struct str patch = ag_ui_value(e, "patch");
    struct json j;
    bool any = false;
    ag_ui_state_emit_state(e, "activity", "patch", true);
    if (!ag_ui_state_is_progress(e) || !json_reader_open_array(&j, patch))
        return;
    for (struct str op; json_reader_next_value(&j, &op);) {
        const struct str kind = value_get_last(op, "op"), path = value_get_last(op, "path");
        const bool sets = value_equals(kind, "add") || value_equals(kind, "replace");
        for (size_t i = 0; sets && i < sizeof(paths) / sizeof(paths[0]); i++)
            if (value_equals(path, paths[i].key)) {
                *paths[i].value = value_get_last(op, "value");
                any = true;
            }
    }
    if (any)
        ag_ui_state_emit_progress(e, &r);
}
