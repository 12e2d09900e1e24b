/* SPDX-License-Identifier: MIT
 * Informational kinds as notices. */
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/value.h"
#include "dialect/reasonix/reasonix.h"

/* object, member: location of a text for people if the line has none. */
static const struct reasonix_notice_kind {
    const char *kind, *level, *object, *member, *text;
} notes[] = {
    {"compaction_started", "info", NULL, NULL, "The conversation is being compacted."},
    {"compaction_done", "info", "compaction", "summary", "The conversation was compacted."},
    {"mcp_surface_ready", "info", NULL, NULL, "The tools of an MCP server are ready."},
    {"retrying", "info", NULL, NULL, "Retrying the model request."},
    {"steer", "info", NULL, NULL, "The turn received additional instructions."},
    {"guardian_assessment", "info", "guardian", "rationale", "The guardian reviewed a tool call."},
    {"extension_surface", "info", NULL, NULL, "An extension shows something."},
    {"extension_status", "info", NULL, NULL, "An extension changed its status."},
    {"context_maintenance", "info", NULL, NULL, "The context was cleaned up."},
    {"workspace_changed", "info", NULL, NULL, "The workspace changed."},
    {"completion_summary", "info", NULL, NULL, "The turn was summarised."},
    {"status", "info", NULL, NULL, "The status changed."},
    /* of the typed log */
    {"session.compacted", "info", NULL, NULL, "The conversation was compacted."},
    {"budget.warning", "warn", NULL, NULL, "The budget is nearly spent."},
};

static const struct reasonix_notice_kind *reasonix_notice_find_kind(const char *kind)
{
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
        if (strcmp(notes[i].kind, kind) == 0)
            return &notes[i];
    return NULL;
}

bool reasonix_is_note(const char *kind)
{
    return reasonix_notice_find_kind(kind);
}

static bool is_denied(const struct reasonix_notice_kind *note, struct str line)
{
    return strcmp(note->kind, "guardian_assessment") == 0 &&
           value_equals(value_get_last(value_get_last(line, "guardian"), "outcome"), "deny");
}

static const char *reasonix_notice_text_of(const struct reasonix_ctx *call,
                                           const struct reasonix_notice_kind *note, struct str line)
{
    const char *text = reasonix_copy(call, value_get_last(line, "text"));
    if (!text && note->object)
        text =
            reasonix_copy(call, value_get_last(value_get_last(line, note->object), note->member));
    return text && *text ? text : note->text;
}

bool reasonix_emit_notice(const struct reasonix_ctx *call, const char *kind, struct str line)
{
    static const char *const known[] = {"kind", NULL};
    const struct reasonix_notice_kind *const note = reasonix_notice_find_kind(kind);
    if (!note)
        return false;
    dialect_emit_notice(call->out, is_denied(note, line) ? "warn" : note->level, note->kind,
                        reasonix_notice_text_of(call, note, line),
                        value_extra_except(call->out->scratch, line, known));
    return true;
}
