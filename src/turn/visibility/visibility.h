/* SPDX-License-Identifier: MIT
 * Decides which events of a turn people may see: the show_* settings of an agent, and the audience
 * filter. Applied once, between guard and dispatch. Pure. */
#ifndef TURN_VISIBILITY_VISIBILITY_H
#define TURN_VISIBILITY_VISIBILITY_H

#include "base/bytes/buf.h"
#include "event/event.h"

/* One setting; unset ones use a fallback. */
enum visibility_switch { SHOW_UNSET = -1, SHOW_OFF = 0, SHOW_ON = 1 };

struct visibility {
    enum visibility_switch thinking, tools, text, narration, final;
};

#define VISIBILITY_KEYS 5
/* "show_thinking" … in the order of the stored form; NULL behind the last. */
const char *visibility_key(size_t i);
enum visibility_switch *visibility_switch_at(struct visibility *v, size_t i);

/* The documented defaults: narration, final and text on; tools and thinking off. */
struct visibility visibility_default(void);
/* Fills unset settings: narration and final from text, text on, tools and thinking off. */
struct visibility visibility_resolve(struct visibility v);
bool visibility_equal(const struct visibility *a, const struct visibility *b);
/* Truth of a stored value: "1", "true", "yes", "on" in any case; everything else is off. */
enum visibility_switch visibility_parse_value(const char *value);
/* The five resolved switches as a JSON object of booleans (the answer to /stream-status). */
void visibility_append_json(struct buf *out, struct visibility v);

/* How an event is shown to one class of consumers. */
enum visibility_decision {
    VIEW_HIDE,
    VIEW_SHOW,
    VIEW_STRIP,   /* without the hidden parts: text, reasoning, or the content of a result */
    VIEW_FAILURE, /* a failed tool result as a notice, because its call was not shown (see
                   * view_pairing.h) */
};

/* Decides by the agent's settings alone; v is resolved. Shows state and raw: dispatch checks
 * whether a consumer asked for them. Hides a message of which nothing would remain. */
enum visibility_decision visibility_decide(const struct visibility *v, const struct event *ev);
/* Whether a consumer of this audience (NULL: user) gets the event: those of its own audience, and
 * start, final, error, done and failed tool results of any audience. */
bool visibility_matches_audience(const char *consumer, const struct event *ev);
/* Applies VIEW_STRIP: removes hidden parts and the content of a tool's result from the draft. */
void visibility_strip(const struct visibility *v, struct event *ev);
/* Applies VIEW_FAILURE: turns the draft of a failed result into a notice, code "tool_failed"; its
 * text is written to the buffer. */
void visibility_tell_failure(struct event *ev, struct buf *text);

#endif
