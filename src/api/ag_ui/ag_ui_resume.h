/* SPDX-License-Identifier: MIT
 * Validates a client's answers to the interrupts of a run; applies all or none. Loop thread only.
 */
#ifndef API_AG_UI_AG_UI_RESUME_H
#define API_AG_UI_AG_UI_RESUME_H

#include "api/ag_ui/ag_ui_runs.h"
#include "api/turns/request_api.h"

struct ag_ui_resume_error {
    const char *code;
    struct buf message;
};

/* Applies the answers, a list of ResumeEntry. Returns the leg whose turn continues; NULL with
 * why. */
const struct ag_ui_leg *ag_ui_resume_apply(const struct api_context *a, struct ag_ui_legs *legs,
                                           const struct auth_principal *p, const char *thread,
                                           const json_t *entries, struct ag_ui_resume_error *why);

#endif
