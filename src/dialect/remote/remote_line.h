/* SPDX-License-Identifier: MIT
 * Control lines of turncast-remote, written between the lines of the service's own dialect: JSON
 * objects that begin with {"remote":KIND. Reader and writers; pure.
 *
 *   open     dialect, session?     the lines of the service that follow are of that dialect; the
 *                                  conversation can be continued by that session ID
 *   request  id, question, edits   the service waits for an answer to the request of that ID: to a
 *                                  question, or an approval, with other arguments too if `edits`
 *   settled  id                    it does not wait any more
 *   suspended                      the next line of the service ends a run that waits for answers,
 *                                  and belongs to a turn that goes on
 *   notice   level, code, text
 *   error    code, message         ends the turn
 */
#ifndef DIALECT_REMOTE_REMOTE_LINE_H
#define DIALECT_REMOTE_REMOTE_LINE_H

#include <stdbool.h>

#include "base/bytes/buf.h"
#include "base/str.h"
#include "dialect/dialect.h"

#define REMOTE_LINE_PREFIX "{\"remote\":"

/* Raw JSON values, slices of the line; p NULL: absent. */
struct remote_line {
    struct str kind, dialect, session, id, level, code, text, message;
    bool question, edits;
};

/* False: not a control line. */
bool remote_line_parse(struct remote_line *l, const char *line, size_t len);

/* Each appends one line with its newline. Repairs texts to valid UTF-8. */
void remote_line_add_open(struct buf *out, const char *dialect, const char *session); /* or NULL */
void remote_line_add_request(struct buf *out, const char *id, bool question, bool edits);
void remote_line_add_settled(struct buf *out, const char *id);
void remote_line_add_suspended(struct buf *out);
void remote_line_add_notice(struct buf *out, const char *level, const char *code, const char *text);
void remote_line_add_error(struct buf *out, const char *code, const char *message);
/* A line of the service: replaces line breaks by spaces, and ensures that it cannot be mistaken for
 * a control line. */
void remote_line_add_data(struct buf *out, const char *data, size_t len);

/* remote_input.c */
extern const struct dialect_input remote_input;

#endif
