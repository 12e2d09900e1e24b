/* SPDX-License-Identifier: MIT
 * For tests of instances with a process of their own: a loop, a host that writes down what it is
 * told, and what the system has before and after. The test's program is the child, too. */
#ifndef TESTS_PLUGIN_GUEST_KIT_H
#define TESTS_PLUGIN_GUEST_KIT_H

#include "base/bytes/buf.h"
#include "plugin/channel.h"

#define KIT_DEADLINE_MS 120000
#define KIT_BATCHES 256

extern struct loop *kit_loop;
extern struct buf kit_told; /* routes, sockets, asks, answers to hits, what was buried */
extern struct callback_batch *kit_batches[KIT_BATCHES];
extern size_t kit_n_batches;
extern struct host_call *kit_ask; /* the newest that was not answered; kit_holds_asks */
extern bool kit_holds_asks;       /* else they are answered at once */
extern struct channel_callbacks kit_host;

/* Once, first; kit_end last. */
void kit_begin(void);
void kit_end(void);
void kit_forget(void); /* what was told, all batches */

/* What was logged since the last call; static. */
const char *kit_logged(void);
/* Rounds of the loop until the log has that text, since the last kit_logged. */
bool kit_wait_log(const char *text);
bool kit_wait(bool (*cond)(void *arg), void *arg);
bool kit_wait_told(const char *text);
bool kit_wait_batches(size_t n);
void kit_round(int ms);

/* A module of tests/fault, described. */
struct loaded_plugin *kit_describe(const char *name);
/* As the configuration would say; options: pairs, the last with a NULL key. The path "out" of the
 * test's directory is where such plugins write. */
struct conf_instance kit_spec(const char *name, struct conf_option *options);
/* Fails the test's program when it cannot be started. */
struct channel *kit_start(const struct conf_instance *spec, const char *module,
                          const struct channel_callbacks *host);
/* Not yet launched. NULL with err, here and below. */
struct channel *kit_make(const struct conf_instance *spec, const char *module,
                         const struct channel_callbacks *host, struct tc_err *err);
struct channel *kit_try(const struct conf_instance *spec, const char *module,
                        const struct channel_callbacks *host, struct tc_err *err);
/* Stops and joins. */
int kit_stop(struct channel *c, int ms);

/* What the process has open, and its children, as text; static. Equal texts: nothing was left. */
unsigned kit_count_fds(void);
unsigned kit_count_children(void);
/* 0, or its newest child. */
int kit_child(void);

#endif
