/* SPDX-License-Identifier: MIT
 * Tests of conf/parse/conf_path.h, and of the places that use it. */
#include "conf/parse/conf_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "conf/conf.h"
#include "conf/parse/option_list.h"
#include "tap/tap.h"

static struct arena arena;

static void test_resolve(void)
{
    static const struct {
        const char *dir, *path, *wanted;
    } rows[] = {
        {"/etc/t", "a/b", "/etc/t/a/b"},
        {"/etc/t", "/a/b", "/a/b"},
        {NULL, "a/b", "a/b"},
        {"/etc/t", "~/src", "/home/ann/src"},
        {NULL, "~/src", "/home/ann/src"},
        {"/etc/t", "~", "/home/ann"},
        {"/etc/t", "~ann/src", "/etc/t/~ann/src"},
        {"/etc/t", "a~/b", "/etc/t/a~/b"},
        {"/etc/t", "./~/b", "/etc/t/./~/b"},
    };
    setenv("HOME", "/home/ann", 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        is_str(conf_path_resolve(&arena, rows[i].dir, rows[i].path), rows[i].wanted, "%s",
               rows[i].path);
    setenv("HOME", "relative", 1);
    is_int(*conf_path_home(), '/', "a home directory that is relative is none");
    setenv("HOME", "/home/ann", 1);
    const char *const program =
        option_list_append(&arena, option_list_append(&arena, NULL, "~/bin/tool"), "~other");
    const char *const *const list =
        option_list_split(&arena, option_list_resolve_paths(&arena, program, "/etc/t"));
    is_str(list[0], "/home/ann/bin/tool", "a program of an option");
    is_str(list[1], "~other", "and what is no path");
}

static void write_file(const char *name, const char *text)
{
    char file[512];
    snprintf(file, sizeof file, "%s/%s", tap_tmpdir(), name);
    tap_spew(file, text, strlen(text));
    chmod(file, 0600);
}

/* The home directory is another one than that of the configuration. */
static void test_conf(void)
{
    struct tc_err err = {0};
    char file[512], home[512], wanted[600];
    snprintf(home, sizeof home, "%s/home", tap_tmpdir());
    snprintf(file, sizeof file, "%s/t.conf", tap_tmpdir());
    snprintf(wanted, sizeof wanted, "%s/src", home);
    mkdir(home, 0700);
    setenv("HOME", home, 1);
    write_file("home/agents.conf", "agents : { a : { command = [\"true\"]; cwd = \"~/src\"; }; };");
    write_file("home/key", "a-key-of-this-test\n");
    write_file("t.conf",
               "@include \"~/agents.conf\"\n"
               "http : { keys : { me : { secret = \"file:~/key\"; grants = [\"watch\"]; }; "
               "}; };");
    struct conf *const c = conf_load(file, &err);
    ok(c, "a file with ~ in an include and in a secret: %s", err.text);
    is_str(c ? conf_agent_find(c, "a")->cwd : NULL, wanted, "a key that is a path");
    conf_unref(c);
}

int main(void)
{
    plan_lazy();
    test_resolve();
    test_conf();
    arena_fini(&arena);
}
