/* SPDX-License-Identifier: MIT
 * Outbound requests that an earlier process of this host has made for an instance that another host
 * leads now: gives them to that host, one after the other, and takes those of other hosts. A
 * request stays in the journal of this host until the other one has it on disk. If it is not known
 * whether the other one has it, only that host is asked again; if that is impossible, the request
 * is marked as in doubt. Loop thread only. */
#ifndef CORE_HOST_REQUEST_FORWARDING_H
#define CORE_HOST_REQUEST_FORWARDING_H

#include "core/host/instance_leaders.h"

struct request_forwarding;

struct request_forwarding *request_forwarding_new(const struct leading_parts *parts,
                                                  const struct instance_leaders *leaders);
/* The configured instances may have changed. */
void request_forwarding_update(struct request_forwarding *f);
/* Whether requests of the instance may still have to be given to its leader. Outcomes wait for
 * that, because the requests that follow from them are later ones. */
bool request_forwarding_is_first(const struct request_forwarding *f, const char *instance);
/* This host leads the instance and is about to start it: calls `done`, at once or later, when the
 * journal has no request of which another host is known to have a copy. */
void request_forwarding_prepare(struct request_forwarding *f, const char *instance,
                                void (*done)(void *ctx, const char *instance), void *ctx);
/* Before the leaders and the bus are freed: gives and takes nothing more. NULL is allowed. */
void request_forwarding_stop(struct request_forwarding *f);
/* After the bus was freed and the journal closed. NULL is allowed. */
void request_forwarding_free(struct request_forwarding *f);

#endif
