/* SPDX-License-Identifier: MIT
 * Connector process, host side: an instance that runs in a separate process. Each part has a
 * struct, a header and a file that alone writes it; channel_process.c implements the channel with
 * them. Loop thread only. */
#ifndef PLUGIN_PROCESS_CONNECTOR_PROCESS_H
#define PLUGIN_PROCESS_CONNECTOR_PROCESS_H

#include "base/arena.h"
#include "plugin/channel.h"
#include "plugin/connector_limits.h"
#include "plugin/process/connector_calls.h"
#include "plugin/process/connector_log_pipe.h"
#include "plugin/process/connector_reader.h"
#include "plugin/process/connector_supervisor.h"
#include "plugin/process/connector_turns.h"
#include "plugin/process/connector_writer.h"

/* Configuration of the instance; constant. */
struct connector_config {
    char *name, *label;
    struct loaded_plugin *plugin;
    struct arena arena; /* of the setup, and the options */
    struct ipc_setup setup;
    struct limits *limits;
    int64_t init_ms, callback_ms;
    bool delivers;
};

struct connector_process {
    struct channel channel;
    struct channel_callbacks host;
    struct connector_config conf;
    bool closing;               /* no more turns */
    struct stored_texts stored; /* for the next process */
    struct connector_turns turns;
    struct connector_writer writer;
    struct connector_reader reader;
    struct connector_calls calls;
    struct connector_supervisor sup;
    struct connector_log_pipe log;
};

static inline bool connector_has_process(const struct connector_process *g)
{
    return g->sup.state == CONNECTOR_STARTING || g->sup.state == CONNECTOR_RUNNING ||
           g->sup.state == CONNECTOR_STOPPING;
}

/* Whether its owner has not released it yet. Until then only the setup is sent to the process, and
 * only IPC_STARTED is read from it. */
static inline bool connector_is_held(const struct connector_process *g)
{
    return g->reader.release == CONNECTOR_HELD;
}

static inline struct connector_process *connector_process_of(struct channel *c)
{
    return (struct connector_process *)(void *)c;
}

#endif
