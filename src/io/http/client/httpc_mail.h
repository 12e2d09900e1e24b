/* SPDX-License-Identifier: MIT
 * E-mail as a request: a URL smtp: or smtps:, the envelope in headers, the message (RFC 5322) as
 * the body; with the method NOOP only the login, without a message. libcurl blocks until the reply
 * to a message arrives, so these transfers run on worker threads (httpc_mailer.h). */
#ifndef IO_HTTP_CLIENT_HTTPC_MAIL_H
#define IO_HTTP_CLIENT_HTTPC_MAIL_H

#include "io/http/client/httpc_transfer.h"

bool httpc_mail_is_url(const char *url);
/* Why the host refuses to send this (a static text), or NULL. The URL must have been checked. */
const char *httpc_mail_validate(const struct httpc_request *request);
/* Sets the options that differ from HTTP. */
void httpc_mail_setup(struct httpc_transfer *c, const struct libcurl *curl,
                      const struct httpc_request *request);
/* Runs on the worker's thread. */
void httpc_mail_perform(struct httpc_transfer *c);
/* Stops it. False: the server may have received the whole message. */
bool httpc_mail_stop(struct httpc_transfer *c);
/* Result of a finished transfer; for a cancelled one, call it after httpc_mail_stop. */
enum httpc_outcome httpc_mail_outcome(const struct httpc_transfer *c, CURLcode code);

#endif
