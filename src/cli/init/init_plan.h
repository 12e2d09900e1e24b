/* SPDX-License-Identifier: MIT
 * State of `turncast init`: detected agents and answers of the user; and the parts of the command,
 * one file each. */
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

/* An installed agent program. */
struct init_agent {
    const struct agent_kind *kind;
    char *program;    /* path of the program */
    char *login;      /* where the login was found; NULL: not logged in */
    char *definition; /* text of its group in the configuration */
};

/* A "key = value" of the connector. */
struct init_setting {
    char *key, *value;
    char *secret; /* secret as typed, to be written to the file that `value` names; or NULL */
};

struct init_plan {
    struct arena arena; /* owns the texts */
    const struct args *args;
    bool asks;        /* standard input and output are a terminal */
    const char *file; /* path of the configuration */
    struct init_agent agents[INIT_AGENTS_MAX];
    size_t n_agents;
    const struct init_agent *chosen;
    struct loaded_plugin *connector; /* NULL: no connector */
    struct init_setting settings[INIT_SETTINGS_MAX];
    size_t n_settings;
    const char *grants; /* grants of the connector, separated by blanks; "": it only shows turns */
    bool serves;        /* the connector needs the HTTP server */
    const char *allow;  /* user ids separated by commas or blanks; "" or NULL: nobody yet */
};

/* init_agents.c: finds the programs, lists them, and chooses the default agent. 0, or the exit
 * status. */
int init_agents_find(struct init_plan *plan) MUST_CHECK;

/* init_connector.c: the connector, its options, derived settings, and who may write to it. 0, or
 * the exit status. */
int init_connector_choose(struct init_plan *plan) MUST_CHECK;
int init_connector_set_options(struct init_plan *plan) MUST_CHECK;
void init_connector_apply_rules(struct init_plan *plan);
int init_connector_set_people(struct init_plan *plan) MUST_CHECK;

/* init_text.c: the text of the configuration. */
void init_text_write(const struct init_plan *plan, struct buf *out);

#endif
