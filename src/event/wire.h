/* SPDX-License-Identifier: MIT
 * Event <-> a binary record (base/pack.h), for a process of the same build: what codec does for
 * others, without text. */
#ifndef EVENT_WIRE_H
#define EVENT_WIRE_H

#include "base/pack.h"
#include "event/event.h"

void wire_pack(struct buf *out, const struct event *ev);
/* Strings point into the record; u is bad when it is not an event. u.meta is set when the event has
 * its place: it is the caller's to do. */
void wire_unpack(struct event *ev, struct unpack *u);

#endif
