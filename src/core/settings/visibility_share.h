/* SPDX-License-Identifier: MIT
 * Shares the visibility of agents among all hosts on the bus: a change on one host applies on all.
 * Without the bus, the local store is used; its values are shared if the bus has none for an agent.
 * Loop thread only. */
#ifndef CORE_SETTINGS_VISIBILITY_SHARE_H
#define CORE_SETTINGS_VISIBILITY_SHARE_H

#include "core/settings/visibility_cache.h"
#include "core/shared/shared_settings.h"

struct visibility_share;

/* NULL: not needed, because the store is Redis, which hosts share already. Borrows all
 * arguments. */
struct visibility_share *visibility_share_new(struct shared_settings *shared,
                                              struct visibility_cache *cache,
                                              struct settings_worker *settings,
                                              const struct conf *conf);
/* Applies a new list of agents. */
void visibility_share_set_conf(struct visibility_share *s, const struct conf *conf);
void visibility_share_free(struct visibility_share *s); /* call it before shared_settings is freed.
                                                         * NULL is allowed */

#endif
