/* SPDX-License-Identifier: MIT
 * Visibility of agents that all hosts on the bus share: what is changed on one host is changed on
 * the others. What is stored here is used while there is no bus, and is given to a bus that has
 * nothing of an agent. Loop thread only. */
#ifndef CORE_SETTINGS_VISIBILITY_SHARE_H
#define CORE_SETTINGS_VISIBILITY_SHARE_H

#include "core/settings/visibility_cache.h"
#include "core/shared/shared_settings.h"

struct visibility_share;

/* NULL: Redis is the store, which hosts share already. Borrows all. */
struct visibility_share *visibility_share_new(struct shared_settings *shared,
                                              struct visibility_cache *cache,
                                              struct settings_worker *settings,
                                              const struct conf *conf);
/* Other agents. */
void visibility_share_set_conf(struct visibility_share *s, const struct conf *conf);
void visibility_share_free(struct visibility_share *s); /* behind what is shared. NULL is fine */

#endif
