/* SPDX-License-Identifier: MIT
 * What `turncast init` has found out and been told, and the parts of the command, one file each. */
#ifndef CLI_INIT_INIT_PLAN_H
#define CLI_INIT_INIT_PLAN_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "cli/command_table.h"
#include "cli/init/init_file.h"
#include "cli/inspect/probe/agent_login.h"
#include "plugin/abi/loader.h"

#define INIT_AGENTS_MAX 16
#define INIT_SETTINGS_MAX 64

/* A program of an agent that is installed. */
struct init_agent {
    const struct agent_kind *kind;
    char *program;    /* its file */
    char *login;      /* where a login was found; NULL: none was */
    char *definition; /* its group, as text */
};

/* A "key = value" of the connector. */
struct init_setting {
    char *key, *value;
    char *secret; /* as it was typed: goes to a file that the value names; or NULL */
};

struct init_plan {
    struct arena arena; /* owns the texts */
    const struct args *args;
    bool asks;        /* on a terminal */
    const char *file; /* the configuration */
    struct init_agent agents[INIT_AGENTS_MAX];
    size_t n_agents;
    const struct init_agent *chosen;
    struct loaded_plugin *connector; /* NULL: none */
    struct init_setting settings[INIT_SETTINGS_MAX];
    size_t n_settings;
    const char *grants; /* of the connector, with blanks between them; "": it only shows */
    bool serves;        /* the connector needs the HTTP server */
    const char *allow;  /* IDs with commas or blanks between them; "" or NULL: nobody yet */
};

/* init_agents.c: finds the programs, prints them, and chooses the one that answers. 0, or a status
 * to end with. */
int init_agents_find(struct init_plan *plan) MUST_CHECK;

/* init_connector.c: which connector, its options, what follows from them, and who may write to it.
 * 0, or a status to end with. */
int init_connector_choose(struct init_plan *plan) MUST_CHECK;
int init_connector_set_options(struct init_plan *plan) MUST_CHECK;
void init_connector_apply_rules(struct init_plan *plan);
int init_connector_set_people(struct init_plan *plan) MUST_CHECK;

/* init_text.c: the text of the configuration. */
void init_text_write(const struct init_plan *plan, struct buf *out);

#endif
