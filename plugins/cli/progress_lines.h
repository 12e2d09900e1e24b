/* SPDX-License-Identifier: MIT
 * Plain progress lines for logs and pipes (format of CLIReporter). */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <turncast/plugin.h>

#include "terminal/terminal.h"

/* Each writes the line of its event, or nothing if there is no information. */
void lines_start(struct term *t, const struct tc_start *ev);
void lines_progress(struct term *t, const struct tc_progress *ev);
void lines_tool_call(struct term *t, const char *name);
void lines_tool_result(struct term *t, const char *name, bool is_error);
void lines_step(struct term *t, const struct tc_step *ev);
void lines_request(struct term *t, const struct tc_request *ev);
void lines_notice(struct term *t, const struct tc_notice *ev);
/* retries: number of retries, and the reason of the last one. */
void lines_error(struct term *t, const struct tc_error *ev, unsigned retries, const char *last);
void lines_done(struct term *t, const struct tc_done *ev);

#endif
