/* SPDX-License-Identifier: MIT
 * Output of `turncast run` on standard output: the answer as text, the result as one JSON object,
 * or the events as lines of JSON. */
#ifndef CLI_RUN_RUN_OUTPUT_H
#define CLI_RUN_RUN_OUTPUT_H

#include "base/attr.h"
#include "cli/args.h"
#include "conf/conf.h"
#include "core/turn/turn_result.h"

enum run_output_form {
    RUN_OUTPUT_TEXT,
    RUN_OUTPUT_JSON,
    RUN_OUTPUT_STREAM, /* written by a jsonl instance that was added to the configuration */
    RUN_OUTPUT_NONE,   /* the terminal connector shows the answer on the same terminal */
};

/* Chooses by --output and --json; default: text on a terminal, otherwise JSON. Call it after
 * --plugin was applied. -1: invalid options, with an error on stderr. */
int run_output_choose(enum run_output_form *form, const struct args *args, struct conf *conf,
                      const struct cli_command *c) MUST_CHECK;
/* Appends the output: complete lines, or nothing. */
void run_output_append(struct buf *out, enum run_output_form form, const struct turn_result *result,
                       int64_t duration_ms);

/* Appends an answer: rendered without control characters of its own for a terminal, otherwise as
 * the agent wrote it. Complete lines. */
void run_output_append_text(struct buf *out, struct str markdown);

#endif
