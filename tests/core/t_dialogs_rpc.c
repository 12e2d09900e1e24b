/* SPDX-License-Identifier: MIT
 * The recorded dialogs with agents that speak JSON-RPC: ACP, and codex app-server. The programs
 * that were recorded said who they are and where they were in their own words; and codex's sandbox
 * is the configuration's here. */
#include "core/dialogs.h"
#include "tap/tap.h"

#define ALLOW_ALWAYS                                                                               \
    {                                                                                              \
        .choice = "allow_agent"                                                                    \
    }

#include "core/dialog_rows_acp.h"
#include "core/dialog_rows_codex.h"

int main(void)
{
    plan_lazy();
    stage_init();
    dialogs_play(&(struct dialog_set){.dialect = "acp",
                                      .message = "do the lab thing",
                                      .words = {"ignore=params.clientInfo", "ignore=params.cwd"},
                                      .own_ids = true,
                                      .rows = acp_rows,
                                      .count = sizeof acp_rows / sizeof *acp_rows});
    dialogs_play(&(struct dialog_set){
        .dialect = "codex-app",
        .message = "do the lab thing",
        .words = {"ignore=params.clientInfo", "ignore=params.cwd", "ignore=params.sandbox"},
        .own_ids = true,
        .rows = codex_rows,
        .count = sizeof codex_rows / sizeof *codex_rows});
    stage_fini();
    return 0;
}
