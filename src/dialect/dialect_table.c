/* SPDX-License-Identifier: MIT
 * Registry of dialects by name. */
#include <string.h>

#include "dialect/dialect_list.h"

/* clang-format off */
static const struct dialect *const dialects[] = {
    &dialect_claude,
    &dialect_claude_session,
    &dialect_acp,
    &dialect_ag_ui,
    &dialect_agenticore_redis,
    &dialect_awaken,
    &dialect_codex,
    &dialect_codex_app,
    &dialect_codex_rollout,
    &dialect_copilot,
    &dialect_ethos,
    &dialect_ethos_acp,
    &dialect_ethos_web,
    &dialect_gemini,
    &dialect_missy_audit,
    &dialect_missy_json,
    &dialect_missy_run,
    &dialect_openai,
    &dialect_opencode,
    &dialect_qwen,
    &dialect_reasonix,
    &dialect_reasonix_log,
    &dialect_remote,
    &dialect_tirea,
    &dialect_turncast,
};
/* clang-format on */

const struct dialect *dialect_get(size_t i)
{
    return i < sizeof(dialects) / sizeof(*dialects) ? dialects[i] : NULL;
}

const struct dialect *dialect_find(const char *name)
{
    for (size_t i = 0; dialect_get(i); i++)
        if (strcmp(dialect_get(i)->name, name) == 0)
            return dialect_get(i);
    return NULL;
}
