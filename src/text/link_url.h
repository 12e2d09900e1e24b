/* SPDX-License-Identifier: MIT
 * Sanitises link URLs and checks whether a service accepts them. Pure. */
#ifndef TEXT_LINK_URL_H
#define TEXT_LINK_URL_H

#include <stdbool.h>

#include "base/bytes/buf.h"
#include "base/str.h"

#define URL_MAX 2048 /* limit; a longer address is not made a link */

/* Appends the address with blanks, controls, quotes and delimiting brackets percent-encoded. */
void link_url_append_clean(struct buf *out, struct str raw);
/* Accepts http and https with a host that has a dot or is a bracketed address; tg, ton, tonsite;
 * but never tg://user, which would mention a person. A Telegram server refuses a whole message
 * because of one other link. */
bool link_url_is_telegram_safe(const char *url);
/* http, https. */
bool link_url_is_web(const char *url);
/* http, https, mailto. */
bool link_url_is_web_or_mail(const char *url);
/* Whether the label shows the target: the address itself, or without its scheme. */
bool link_url_equals_label(const char *url, struct str label);

#endif
