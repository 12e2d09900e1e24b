/* SPDX-License-Identifier: MIT
 * Text of Slack as the text that the person wrote. Pure. */
#ifndef SLACK_ENTITY_H
#define SLACK_ENTITY_H

/* References to people, channels and addresses become readable, mentions of `self` (or NULL) go
 * away. In place: it never gets longer. */
void entity_decode(char *text, const char *self);

#endif
