/* SPDX-License-Identifier: MIT
 * For tests of an instance in a process: starts tests/fault/puppet.c, which executes the commands
 * in its events. */
#ifndef TESTS_PLUGIN_PUPPET_KIT_H
#define TESTS_PLUGIN_PUPPET_KIT_H

#include <stdlib.h>
#include <string.h>

#include "plugin/guest_kit.h"

extern char puppet_path[512]; /* the file that the plugin writes */

void puppet_set_option(size_t i, const char *key, const char *value);
struct conf_instance puppet_spec_of(const char *name);
struct channel *puppet_start(const char *name);
void *puppet_open_turn(struct channel *c, const char *id);
void puppet_say(struct channel *c, void *turn, const char *text);
void puppet_cast(struct channel *c, void *turn, enum tc_kind kind);
const char *puppet_written(void);
size_t puppet_count(const char *all, const char *text);
bool puppet_has_written(void *text);
bool puppet_wait_written(const char *text);
struct outbound_reply *puppet_reply_to(const struct outbound_request *l, const char *body,
                                       bool last);
const struct outbound_request *puppet_newest_request(void);
const struct callback_batch *puppet_newest_batch(void);

#endif
