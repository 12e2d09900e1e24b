/* SPDX-License-Identifier: MIT
 * What an AG-UI client asks with: a RunAgentInput, as much of it as an agent behind the host can be
 * told. Its tools and its state are of the client alone, and are passed over. Pure. */
#ifndef API_AG_UI_AG_UI_RUN_INPUT_H
#define API_AG_UI_AG_UI_RUN_INPUT_H

#include "api/shared/chat_messages.h"

/* Borrowed from the body, but for `said` and `context`. */
struct ag_ui_run_input {
    const char *thread, *run;
    const char *parent, *protocol, *agent; /* each or NULL */
    const json_t *resume; /* answers to interrupts, one at least: then nothing is said; or NULL */
    struct chat_messages said;
    bool follows;       /* what the agent does behind its answer may be turns of their own */
    struct buf context; /* "[context] description: value" lines, or nothing */
};

struct ag_ui_error {
    int status;
    const char *code, *message;
};

/* False with why. To be freed either way; the body has to outlive it. */
bool ag_ui_run_input_parse(struct ag_ui_run_input *in, const json_t *body, struct ag_ui_error *why);
void ag_ui_run_input_fini(struct ag_ui_run_input *in);

#endif
