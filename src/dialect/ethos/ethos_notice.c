/* SPDX-License-Identifier: MIT
 * Informational events as notices. */
#include <string.h>

#include "base/bytes/utf8.h"
#include "dialect/ethos/ethos.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/value.h"

/* member: with a text for people. */
static const struct ethos_notice_kind {
    const char *type, *member, *text;
} notes[] = {
    {"dry_run_summary", NULL, "Dry run: no tool was called."},
    {"evaluators_complete", NULL, "The answer was evaluated."},
    {"notification_received", "message", "Notification received."},
    {"notification", "message", "Notification received."},
    {"memory.captured", "summary", "A memory was stored."},
    {"run.update", "now", "A background run made progress."},
    {"cron.fired", NULL, "A scheduled job began."},
    {"mesh.changed", NULL, "The mesh of agents changed."},
    {"evolve.skill_pending", NULL, "A new skill is waiting for review."},
    {"evolve.skill_applied", NULL, "A new skill is in use."},
};

static const struct ethos_notice_kind *ethos_notice_find_kind(const char *type)
{
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
        if (strcmp(notes[i].type, type) == 0)
            return &notes[i];
    return NULL;
}

bool ethos_is_note(const char *type)
{
    return ethos_notice_find_kind(type);
}

bool ethos_emit_notice(const struct ethos_ctx *call)
{
    static const char *const known[] = {"type", NULL};
    const char *const type = ethos_copy(call, call->l->type);
    const struct ethos_notice_kind *const note = type ? ethos_notice_find_kind(type) : NULL;
    if (!note)
        return false;
    const char *const text =
        note->member ? ethos_copy(call, value_get_last(call->l->self, note->member)) : NULL;
    dialect_emit_notice(call->out, "info", note->type, text && *text ? text : note->text,
                        ethos_rest(call, known));
    return true;
}

void ethos_halt(const struct ethos_ctx *call)
{
    static const char *const known[] = {"type", "rule", "message", NULL};
    const char *const rule = ethos_copy(call, call->l->rule);
    const char *const text = ethos_copy(call, call->l->message);
    const char *const code = rule && *rule ? rule : "halt";
    utf8_copy_truncated(call->e->rule, sizeof(call->e->rule), code);
    dialect_emit_notice(call->out, "warn", code, text ? text : "", ethos_rest(call, known));
}
