/* SPDX-License-Identifier: MIT
 * RunAgentInput, the body of an AG-UI request. Members that an agent behind the host cannot use
 * (the client's tools and state) are ignored. Pure. */
#ifndef API_AG_UI_AG_UI_RUN_INPUT_H
#define API_AG_UI_AG_UI_RUN_INPUT_H

#include "api/shared/chat_messages.h"

/* Borrowed from the body, except `said` and `context`. */
struct ag_ui_run_input {
    const char *thread, *run;
    const char *parent, *protocol, *agent; /* each or NULL */
    const json_t *resume; /* at least one answer to interrupts; `said` is empty then; or NULL */
    struct chat_messages said;
    bool follows;       /* results of background work may be separate turns */
    struct buf context; /* "[context] description: value" lines, or nothing */
};

struct ag_ui_error {
    int status;
    const char *code, *message;
};

/* False with why. Free it in both cases; the body must outlive it. */
bool ag_ui_run_input_parse(struct ag_ui_run_input *in, const json_t *body, struct ag_ui_error *why);
void ag_ui_run_input_fini(struct ag_ui_run_input *in);

#endif
