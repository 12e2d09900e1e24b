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

/* The configuration of --config or of the default path; sets up the log from it. NULL: an error was
 * printed on stderr. */
struct conf *command_conf_load(const struct args *args);
/* Replaces the configured instances by those of --plugin. -1: an error was printed on stderr. */
int oneshot_host_apply_plugins(struct conf *conf, const struct args *args,
                               const struct cli_command *c) MUST_CHECK;
/* The loop, the instances, the HTTP client if an instance speaks to a service, and the journal. */
struct oneshot_host {
    struct loop *loop;
    struct httpc *httpc;
    struct journal_async *journal; /* NULL: no state directory */
    struct dispatch *dispatch;
    const struct conf *conf;
    struct request_registry *requests; /* NULL for replay */
    struct approvals *approvals;
    struct access_control access;
    char *instances; /* directory with a subdirectory per instance; NULL: none */
    char *temporary; /* the same, if it is temporary and removed at the end */
    bool late;       /* instances did not finish within HOST_GRACE_MS */
};
/* Starts the instances. With `keeps`, it becomes the host of the state directory and first recovers
 * unfinished work, unless another host runs or the directory is unusable, which is logged. -1: an
 * instance of --plugin did not start, which was logged. */
int oneshot_host_start(struct oneshot_host *h, const struct conf *conf, const struct args *args,
                       bool keeps) MUST_CHECK;
/* Waits until the instances have processed all events, at most HOST_GRACE_MS. Returns whether a
 * callback failed or an event was lost, and prints the instances on stderr. */
bool oneshot_host_settle(struct oneshot_host *h);
/* Lets the instances finish their requests, at most HOST_GRACE_MS in total. */
void oneshot_host_stop(struct oneshot_host *h);
/* Language of the terminal: that of its connector, or English without one. */
enum language oneshot_host_language(const struct conf *conf);
/* The stored visibility of the agent (NULL: no agent), otherwise the configured one. A damaged
 * store is logged. */
struct visibility oneshot_host_load_visibility(struct visibility_store *store, const char *agent);
/* Prints err on stderr as "turncast: …". */
void command_conf_print_error(const struct tc_err *err);

#endif
