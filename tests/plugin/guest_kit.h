/* SPDX-License-Identifier: MIT
 * For tests of instances in their own process: a loop, a host that records its calls, and the
 * descriptors and processes before and after. The program of the test is also the connector
 * process. */
#ifndef TESTS_PLUGIN_GUEST_KIT_H
#define TESTS_PLUGIN_GUEST_KIT_H

#include "base/bytes/buf.h"
#include "plugin/channel.h"

#define KIT_DEADLINE_MS 120000
#define KIT_BATCHES 256

extern struct loop *kit_loop;
extern struct buf kit_told; /* routes, sockets, calls, responses to hits, dead letters */
extern struct callback_batch *kit_batches[KIT_BATCHES];
extern size_t kit_n_batches;
extern struct host_call *kit_ask; /* the newest unanswered call, if kit_holds_asks */
extern bool kit_holds_asks;       /* otherwise calls are answered at once */
extern struct channel_callbacks kit_host;

/* kit_begin is called once before, kit_end after all tests. */
void kit_begin(void);
void kit_end(void);
void kit_forget(void); /* forgets the recorded calls and all batches */

/* Returns the log since the last call, valid until the next call. */
const char *kit_logged(void);
/* Runs the loop until the log since the last kit_logged contains the text. */
bool kit_wait_log(const char *text);
bool kit_wait(bool (*cond)(void *arg), void *arg);
bool kit_wait_told(const char *text);
bool kit_wait_batches(size_t n);
void kit_round(int ms);

/* Returns the description of a module of tests/fault. */
struct loaded_plugin *kit_describe(const char *name);
/* Returns the configuration of an instance. options: pairs, the last with a NULL key. These plugins
 * write to the file "out" in the directory of the test. */
struct conf_instance kit_spec(const char *name, struct conf_option *options);
/* Bails out if the instance cannot be started. */
struct channel *kit_start(const struct conf_instance *spec, const char *module,
                          const struct channel_callbacks *host);
/* Returns an instance that is not launched yet. This function and the next one return NULL with err
 * on errors. */
struct channel *kit_make(const struct conf_instance *spec, const char *module,
                         const struct channel_callbacks *host, struct tc_err *err);
struct channel *kit_try(const struct conf_instance *spec, const char *module,
                        const struct channel_callbacks *host, struct tc_err *err);
/* Stops and joins the instance. */
int kit_stop(struct channel *c, int ms);

/* Return the number of open descriptors, and of children, of this process. */
unsigned kit_count_fds(void);
unsigned kit_count_children(void);
/* Returns the newest child of this process, or 0. */
int kit_child(void);

#endif
