/* SPDX-License-Identifier: MIT
 * The words for requests of the agent in the language of the terminal: the title of each kind, and
 * how a request ended. Pure. */
#ifndef CLI_REQUEST_WORDS_H
#define CLI_REQUEST_WORDS_H

#include <turncast/plugin.h>

#include "terminal/cli_words.h"

/* "Approval needed" */
const char *request_title(const struct term *t, const char *kind);
/* "allowed by "; followed by the person: request_person(). */
const char *request_outcome(const struct term *t, const struct tc_request *ev);
/* The person who closed the request; NULL: none, or unknown. */
const char *request_person(const struct tc_request *ev);

#endif
