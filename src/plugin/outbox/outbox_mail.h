/* SPDX-License-Identifier: MIT
 * Composes an e-mail (RFC 5322, MIME) of the parts of a request: headers in ASCII with encoded
 * words, bodies in quoted-printable. No value can end its header, and no line is longer than 78
 * bytes. The same parts give the same e-mail. */
#ifndef PLUGIN_OUTBOX_OUTBOX_MAIL_H
#define PLUGIN_OUTBOX_OUTBOX_MAIL_H

#include <turncast/plugin.h>

#include "base/bytes/buf.h"
#include "io/http/client/httpc.h"

/* Appends the e-mail that these parts make (see struct tc_http), which goes to the mail server with
 * the headers `envelope`. NULL, or why it cannot be composed (a static text). */
const char *outbox_mail_write(struct buf *out, const struct tc_part *parts, size_t count,
                              const struct httpc_header *envelope, size_t envelope_count);

#endif
