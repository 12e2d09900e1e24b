/* SPDX-License-Identifier: MIT
 * The recorded dialogs with Claude Code. */
#include "core/dialogs.h"
#include "tap/tap.h"

/* The answer to a request that is none of ours to decide. */
#define REFUSAL(n, id, what)                                                                       \
    "swap=" #n ",{\"type\":\"control_response\",\"response\":{\"subtype\":\"error\","              \
    "\"request_id\":\"" id "\",\"error\":\"turncast does not answer this: " what "\"}}"
#define REPLY(id, response)                                                                        \
    "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"" id    \
    "\",\"response\":" response "}}"

#define CHANGED                                                                                    \
    {                                                                                              \
        .choice = "allow", .args = "{\"command\":\"touch other.txt && echo "                       \
                                   "changed\",\"description\":\"changed by host\"}"                \
    }
#define RED                                                                                        \
    {                                                                                              \
        .choice = "answer", .answers = "{\"0\":\"Red\"}"                                           \
    }

#include "core/dialog_rows.h"

int main(void)
{
    plan_lazy();
    stage_init();
    dialogs_play(&(struct dialog_set){.dialect = "claude",
                                      .message = "Go",
                                      .words = {"ignore=client_composed"},
                                      .rows = rows,
                                      .count = sizeof rows / sizeof *rows});
    stage_fini();
    return 0;
}
