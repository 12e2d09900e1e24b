/* SPDX-License-Identifier: MIT
 * `turncast test`: plays scripts, or a recorded turn, to a connector, without host and network.
 * This command finds and checks the connector; the helper program turncast-script does the rest. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command_table.h"
#include "cli/data_path.h"
#include "cli/oneshot_host.h"
#include "cli/testing/script_program.h"
#include "io/process/libexec.h"
#include "plugin/abi/loader.h"

#define EXEC_PLUGIN "exec"
#define EXEC_OPTION "command"

static const struct args_option rows[] = {
    {'o', ARG_REPEATED, "option", "KEY=VALUE", offsetof(struct args, repeated),
     "option of the connector; can be repeated. Those of a\nscript replace it"},
    ARG_CONFIG,
    {0},
};

/* argv of the helper program; texts are in the arena. */
struct test_command {
    struct conf *conf;
    struct arena arena;
    const char **words;
    size_t count;
};

static void cmd_test_add(struct test_command *t, const char *word)
{
    t->words = xrealloc(t->words, (t->count + 2) * sizeof *t->words);
    t->words[t->count++] = arena_strdup(&t->arena, word);
    t->words[t->count] = NULL;
}

static void cmd_test_add_option(struct test_command *t, const char *key, const char *value)
{
    CLEANUP_FREE char *pair = xasprintf("%s=%s", key, value);
    cmd_test_add(t, "-o");
    cmd_test_add(t, pair);
}

static int cmd_test_fail(const struct tc_err *err)
{
    command_conf_print_error(err);
    return EXIT_USAGE;
}

/* A word without a slash and without .so at its end is the name of a plugin. */
static bool cmd_test_is_program(const char *word)
{
    const size_t n = strcspn(word, ",");
    const bool is_file = n > 3 && strncmp(word + n - 3, ".so", 3) == 0;
    return !is_file && (strchr(word, ' ') || strchr(word, '/'));
}

/* Makes the path absolute, because the connector may run in another directory. */
static char *cmd_test_make_absolute(const char *command)
{
    const size_t n = strcspn(command, " ");
    CLEANUP_FREE char *program = xstrndup(command, n);
    CLEANUP_FREE char *path = strchr(program, '/') ? realpath(program, NULL) : NULL;
    return xasprintf("%s%s", path ? path : program, command + n);
}

static int cmd_test_check_program(const char *command, struct tc_err *err)
{
    CLEANUP_FREE char *program = xstrndup(command, strcspn(command, " "));
    if (!strchr(program, '/') || access(program, X_OK) == 0)
        return 0;
    return err_set_errno(err, errno, program, "cannot execute");
}

/* The connector exec runs programs. */
static int cmd_test_add_program(struct test_command *t, const char *word, struct tc_err *err)
{
    CLEANUP_FREE char *command = cmd_test_make_absolute(word);
    if (cmd_test_check_program(command, err) < 0)
        return -1;
    CLEANUP_FREE char *path =
        loader_find_path(EXEC_PLUGIN, (const char *const *)t->conf->plugin_dirs, err);
    if (!path)
        return err_set(err, word,
                       "programs are run by the connector \"" EXEC_PLUGIN
                       "\", which is not installed");
    cmd_test_add_option(t, EXEC_OPTION, command);
    cmd_test_add(t, path);
    return 0;
}

/* Parses NAME|FILE.so[,KEY=VALUE]... */
static int cmd_test_add_plugin(struct test_command *t, const char *word, struct tc_err *err)
{
    conf_remove_instances(t->conf);
    if (conf_add_plugin(t->conf, word, err) < 0)
        return -1;
    const struct conf_instance *const inst = &t->conf->instances[0];
    struct loaded_plugin *const l =
        loader_probe_by_name(inst->plugin, (const char *const *)t->conf->plugin_dirs, err);
    if (!l)
        return -1;
    for (const struct conf_option *o = inst->options; o && o->key; o++)
        cmd_test_add_option(t, o->key, o->value);
    cmd_test_add(t, l->path);
    loader_unref_plugin(l);
    return 0;
}

static int cmd_test_add_options(struct test_command *t, const struct args *args)
{
    for (size_t i = 0; i < args->n_repeated; i++) {
        if (!strchr(args->repeated[i], '='))
            return args_usage_error(&cmd_test, "--option: \"%s\" is not KEY=VALUE",
                                    args->repeated[i]);
        cmd_test_add(t, "-o");
        cmd_test_add(t, args->repeated[i]);
    }
    return 0;
}

static int cmd_test_add_recording(struct test_command *t, struct tc_err *err)
{
    CLEANUP_FREE char *path = data_path_find("test/recording.jsonl", err);
    if (!path)
        return -1;
    cmd_test_add(t, "-r");
    cmd_test_add(t, path);
    return 0;
}

static int cmd_test_make(struct test_command *t, const struct args *args)
{
    struct tc_err err = {0};
    const char *const subject = args->operands[0];
    CLEANUP_FREE char *helper = libexec_find(SCRIPT_PROGRAM, SCRIPT_VARIABLE, subject, &err);
    if (!helper)
        return cmd_test_fail(&err);
    cmd_test_add(t, helper);
    if (args->n_operands == 1 && cmd_test_add_recording(t, &err) < 0)
        return cmd_test_fail(&err);
    const int status = cmd_test_add_options(t, args);
    if (status)
        return status;
    if ((cmd_test_is_program(subject) ? cmd_test_add_program(t, subject, &err)
                                      : cmd_test_add_plugin(t, subject, &err)) < 0)
        return cmd_test_fail(&err);
    for (int i = 1; i < args->n_operands; i++)
        cmd_test_add(t, args->operands[i]);
    return 0;
}

static int cmd_test_run(const struct args *args)
{
    struct test_command t = {.conf = command_conf_load(args)};
    if (!t.conf)
        return EXIT_USAGE;
    int status = cmd_test_make(&t, args);
    if (status == 0) {
        execv(t.words[0], (char *const *)(uintptr_t)t.words);
        fprintf(stderr, "turncast: %s: %s\n", t.words[0], strerror(errno));
        status = EXIT_SPAWN;
    }
    free(t.words);
    arena_fini(&t.arena);
    conf_unref(t.conf);
    return status;
}

const struct cli_command cmd_test = {
    .name = "test",
    .operands = "PLUGIN|PROGRAM [SCRIPT]...",
    .summary = "Tests a connector, without host and network",
    .about =
        "PLUGIN is NAME|FILE.so[,KEY=VALUE]...; PROGRAM is the path of an executable file, or a\n"
        "command with arguments, in quotes. Plays the scripts, which turncast-test(7) describes, "
        "or\n"
        "without any a recorded turn. Prints TAP; the exit status is 1 if a test failed.",
    .args = rows,
    .min = 1,
    .max = 10000,
    .run = cmd_test_run,
};
