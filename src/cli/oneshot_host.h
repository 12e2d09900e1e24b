/* SPDX-License-Identifier: MIT
 * Host parts for commands that dispatch one turn (run, replay): loop, connector instances, HTTP
 * client, journal. */
#ifndef CLI_ONESHOT_HOST_H
#define CLI_ONESHOT_HOST_H

#include "base/attr.h"
#include "cli/args.h"
#include "conf/conf.h"
#include "core/dispatch/dispatch.h"
#include "core/inbound/access_control.h"
#include "core/request/request_registry.h"
#include "core/settings/visibility_store.h"
#include "core/turn/turn.h"
#include "turn/visibility/visibility.h"

/* Time for instances to deliver their remaining requests. */
#define HOST_GRACE_MS 10000

/* The configuration that --config or the default places name, log set up by it. NULL: it has
 * been told on stderr. */
struct conf *command_conf_load(const struct args *args);
/* Puts --plugin's instances in the place of the configuration's. -1: told on stderr. */
int oneshot_host_apply_plugins(struct conf *conf, const struct args *args,
                               const struct cli_command *c) MUST_CHECK;
/* The loop, the instances, the HTTP client of those that speak to a service, and the journal. */
struct oneshot_host {
    struct loop *loop;
    struct httpc *httpc;
    struct journal_async *journal; /* NULL: there is none */
    struct dispatch *dispatch;
    const struct conf *conf;
    struct request_registry *requests; /* NULL: of replay */
    struct approvals *approvals;
    struct access_control access;
    char *instances; /* directory with one for each instance; NULL: none */
    char *temporary; /* the same, if it is removed at the end */
    bool late;       /* instances have not done in HOST_GRACE_MS what they were told */
};
/* Starts the instances. With `keeps` it is the host of the state directory, unless that has one or
 * cannot be used, which is logged: then what an earlier host left is settled first. -1: an instance
 * that --plugin asked for did not start; that was logged. */
int oneshot_host_start(struct oneshot_host *h, const struct conf *conf, const struct args *args,
                       bool keeps) MUST_CHECK;
/* Waits until the instances have done what they were told, within HOST_GRACE_MS. Returns whether a
 * callback failed or an event was lost, and tells on stderr of whom. */
bool oneshot_host_settle(struct oneshot_host *h);
/* Lets the instances end what they do, within HOST_GRACE_MS all together. */
void oneshot_host_stop(struct oneshot_host *h);
/* Language of the terminal: that of its connector, English without one. */
enum language oneshot_host_language(const struct conf *conf);
/* The stored switches of the agent (NULL: of none), else the configuration's. A damaged store is
 * logged. */
struct visibility oneshot_host_load_visibility(struct visibility_store *store, const char *agent);
/* Tells err on stderr as "turncast: …". */
void command_conf_print_error(const struct tc_err *err);

#endif
