/* SPDX-License-Identifier: MIT
 * Tests of conf/options/plugin_options.h and conf/parse/secret.h. */
#include "conf/options/plugin_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys/log.h"
#include "tap/tap.h"

struct sample {
    const char *url;
    const char *token;
    int64_t port;
    bool loud;
    double rate;
};

static const struct tc_option rows[] = {
    TC_OPTION(struct sample, url, NULL, TC_REQUIRED, "where to send"),
    TC_OPTION(struct sample, token, NULL, TC_SECRET, "access token"),
    TC_OPTION(struct sample, port, "8080", 0, "port"),
    TC_OPTION(struct sample, loud, "true", 0, "more lines"),
    TC_OPTION(struct sample, rate, "1.5", 0, "per second"),
    {0},
};

static struct arena arena;
static struct tc_err err;

static int fill(struct sample *out, const struct conf_option *pairs)
{
    *out = (struct sample){0};
    err = (struct tc_err){0};
    const struct tc_plugin plugin = {.conf_size = sizeof *out, .options = rows};
    return plugin_options_parse(out, &plugin,
                                &(struct plugin_options_source){NULL, pairs, "my.conf", NULL, 7},
                                &arena, &err);
}

#define PAIRS(...) ((const struct conf_option[]){__VA_ARGS__, {0}})
#define PAIR(k, v)                                                                                 \
    ((struct conf_option){(char *)(uintptr_t)(k), (char *)(uintptr_t)(v), NULL, 12, NULL, false})

static void test_values(void)
{
    struct sample s;
    is_int(fill(&s, PAIRS(PAIR("url", "https://x"))), 0, "the required one is enough");
    is_str(s.url, "https://x", "text");
    ok(s.token == NULL, "no default is NULL");
    ok(s.port == 8080 && s.loud, "defaults of int and bool");
    is_real(s.rate, 1.5, "default of real");
    is_int(fill(&s, PAIRS(PAIR("url", ""), PAIR("port", "-1"), PAIR("loud", "Off"),
                          PAIR("rate", "2e3"))),
           0, "all given");
    is_str(s.url, "", "empty text is text");
    ok(s.port == -1 && !s.loud, "values of int and bool");
    is_real(s.rate, 2000, "value of real");
}

static void refused(const char *key, const char *value, const char *wanted)
{
    struct sample s;
    is_int(fill(&s, PAIRS(PAIR("url", "u"), PAIR(key, value))), -1, "%s = %s is refused", key,
           value);
    is_str(err_format(&err), wanted, "  and says why");
}

static void test_refusals(void)
{
    refused("port", "80x", "my.conf:12: port: invalid value \"80x\"; expected an integer");
    refused("port", "", "my.conf:12: port: invalid value \"\"; expected an integer");
    refused("port", "99999999999999999999",
            "my.conf:12: port: invalid value \"99999999999999999999\"; expected an integer");
    refused("loud", "2", "my.conf:12: loud: invalid value \"2\"; expected true or false");
    refused("rate", "1,5", "my.conf:12: rate: invalid value \"1,5\"; expected a number");
    refused("rate", "inf", "my.conf:12: rate: invalid value \"inf\"; expected a number");
    refused("prot", "1", "my.conf:12: prot: unknown option (did you mean \"port\"?)");
    refused(
        "colour", "1",
        "my.conf:12: colour: unknown option; options of the plugin: url, token, port, loud, rate");
    refused("url", "v", "my.conf:12: url: duplicate option; remove one");
    struct sample s;
    is_int(fill(&s, NULL), -1, "a required one is missing");
    is_str(err_format(&err),
           "my.conf:7: url: missing required option (where to send); set it in the instance",
           "  says which");
    static const struct tc_plugin bare = {.conf_size = 0};
    const struct plugin_options_source one = {"i", PAIRS(PAIR("a", "b")), "f", NULL, 3},
                                       two = {"i", PAIRS(PAIR("a", "b")), "--plugin", NULL, 0};
    is_int(plugin_options_parse(NULL, &bare, &one, &arena, &err), -1, "no options at all");
    is_str(err_format(&err),
           "f:12: plugins.instances.i.a: unknown option; options of the plugin: none", "  says so");
    is_int(plugin_options_parse(NULL, &bare, &two, &arena, &err), -1, "of the command line");
    has_str(err_format(&err), ": i.a: unknown option", "  says whose it is");
}

static void secret_refused(const char *value, const char *wanted)
{
    struct sample s;
    is_int(fill(&s, PAIRS(PAIR("url", "u"), PAIR("token", value))), -1, "secret %s is refused",
           value);
    has_str(err_format(&err), wanted, "  says why");
    has_str(err_format(&err), "my.conf:12: ", "  says where");
}

static void test_secrets(void)
{
    struct sample s;
    is_int(fill(&s, PAIRS(PAIR("url", "u"), PAIR("token", "hunter2hunter2"))), 0, "inline");
    is_str(s.token, "hunter2hunter2", "  the value");
    CLEANUP_BUF struct buf out = {0};
    log_redact(&out, STR("it is hunter2hunter2."));
    is_str(out.p, "it is ***.", "  masked from now on");

    setenv("T_OPTIONS_TOKEN", "from-the-env-1", 1);
    is_int(fill(&s, PAIRS(PAIR("url", "env:HOME"), PAIR("token", "env:T_OPTIONS_TOKEN"))), 0,
           "from the environment");
    is_str(s.token, "from-the-env-1", "  the value");
    is_str(s.url, "env:HOME", "  only secrets are looked up");
    secret_refused("env:T_OPTIONS_NONE", "environment variable T_OPTIONS_NONE is not set");
}

/* What of a text is a secret: by its row, or, when the plugin is not known, by its form. */
static void test_secret_forms(void)
{
    struct arena a = {0};
    const struct tc_option plain = {.key = "p"}, text = {.key = "t", .flags = TC_SECRET},
                           list = {.key = "l", .type = TC_T_LIST, .flags = TC_SECRET};
    setenv("T_OPTIONS_FORM", "form-canary-1", 1);
    is_int(plugin_options_secret(&plain, "env:HOME"), OPTION_SECRET_NONE, "no secret");
    is_int(plugin_options_secret(&text, "\x1f"
                                        "a"),
           OPTION_SECRET_TEXT, "a secret");
    is_int(plugin_options_secret(&list, "A=env:HOME"), OPTION_SECRET_LIST, "a list of one string");
    is_int(plugin_options_secret(NULL, "x"), OPTION_SECRET_TEXT, "nobody knows: a text");
    is_int(plugin_options_secret(NULL, "\x1f"
                                       "a"),
           OPTION_SECRET_LIST, "nobody knows: a list");
    is_str(plugin_options_resolve_secrets(&plain, &PAIR("p", "env:T_OPTIONS_FORM"), &a, &err),
           "env:T_OPTIONS_FORM", "what is no secret is not looked up");
    is_str(plugin_options_resolve_secrets(NULL, &PAIR("p", "A=env:T_OPTIONS_FORM"), &a, &err),
           "A=env:T_OPTIONS_FORM", "a text of which nobody knows whether it is a list");
    CLEANUP_BUF struct buf out = {0};
    log_redact(&out, STR("it is form-canary-1."));
    is_str(out.p, "it is ***.", "  its secret is masked all the same");
    arena_fini(&a);
}

static void paths_refused(const char *command, const char *read, const char *wanted)
{
    static const struct lists {
        const char *const *command, *const *read;
    } zero;
    struct lists out = zero;
    static const struct tc_option table[] = {
        TC_OPTION(struct lists, command, NULL, TC_PROGRAMS, ""),
        TC_OPTION(struct lists, read, NULL, TC_PROGRAMS, ""),
        {0},
    };
    const struct tc_plugin plugin = {.conf_size = sizeof out, .options = table};
    const struct conf_option pairs[] = {
        {(char[]){"command"}, (char *)(uintptr_t)command, NULL, 7, NULL, false},
        {(char[]){"read"}, (char *)(uintptr_t)read, NULL, 8, NULL, false},
        {0}};
    const struct plugin_options_source source = {"room", pairs, "my.conf", NULL, 5};
    struct arena a = {0};
    err = (struct tc_err){0};
    is_int(plugin_options_parse(&out, &plugin, &source, &a, &err), wanted ? -1 : 0, "%s",
           wanted ? wanted : "64 paths, and what is none");
    if (wanted)
        is_str(err_format(&err), wanted, "  place and text");
    arena_fini(&a);
}

#define TOO_MANY                                                                                   \
    "too many files and directories of programs (limit: 64 in all options of the instance)"

/* Paths that the sandbox would not be told of. */
static void test_paths(void)
{
    struct buf list = {0};
    for (int i = 0; i < 63; i++)
        buf_printf(&list, " /p%d", i);
    paths_refused("/bin/x y z", list.p, NULL);
    paths_refused("/bin/x ./y z", list.p, "my.conf:8: plugins.instances.room.read: " TOO_MANY);
    buf_add_str(&list, " /more /yet");
    paths_refused(list.p, "", "my.conf:7: plugins.instances.room.command: " TOO_MANY);
    buf_fini(&list);
}

static void test_secret_files(void)
{
    char path[256], value[300];
    snprintf(path, sizeof path, "%s/token", tap_tmpdir());
    snprintf(value, sizeof value, "file:%s", path);
    secret_refused(value, "cannot open secret file");
    tap_spew(path, "from-a-file-22\nrest\n", 20);
    chmod(path, 0640);
    secret_refused(value, "is accessible to other users (mode 0640); run: chmod 600 ");
    chmod(path, 0600);
    struct sample s;
    is_int(fill(&s, PAIRS(PAIR("url", "u"), PAIR("token", value))), 0, "from a private file");
    is_str(s.token, "from-a-file-22", "  its first line");
    tap_spew(path, "\n", 1);
    secret_refused(value, "the secret is empty");
    char *const much = calloc(1, 20000);
    memset(much, 'x', 20000);
    tap_spew(path, much, 20000);
    free(much);
    secret_refused(value, "is too long (limit: 16384 bytes)");
    snprintf(value, sizeof value, "file:%s", tap_tmpdir());
    secret_refused(value, "is not a regular file");
}

/* The working directory of this test has no such file. */
static void test_relative_secret_files(void)
{
    const struct tc_option list = {.key = "env", .type = TC_T_LIST, .flags = TC_SECRET};
    struct conf_option pair = PAIR("token", "file:near");
    char path[256];
    struct sample s;
    snprintf(path, sizeof path, "%s/near", tap_tmpdir());
    tap_spew(path, "from-a-file-beside-33\n", 22);
    chmod(path, 0600);
    pair.dir = tap_tmpdir();
    is_int(fill(&s, PAIRS(PAIR("url", "u"), pair)), 0, "a path relative to the configuration");
    is_str(s.token, "from-a-file-beside-33", "  its first line");
    pair.value = (char[]){"A=file:near"};
    is_str(plugin_options_resolve_secrets(&list, &pair, &arena, &err),
           "\x1e"
           "A=from-a-file-beside-33",
           "  in a list");
    secret_refused("file:near", "cannot open secret file near"); /* of the command line */
}

static void bad_row(struct tc_option row, const char *wanted)
{
    const struct tc_option table[] = {TC_OPTION(struct sample, url, NULL, 0, ""), row, {0}};
    err = (struct tc_err){0};
    const struct tc_plugin plugin = {.conf_size = sizeof(struct sample), .options = table};
    is_int(plugin_options_check_table(&plugin, &err), -1, "bad row: %s", wanted);
    has_str(err_format(&err), wanted, "  says so");
}

static void test_rows(void)
{
    const struct tc_plugin plugin = {.conf_size = sizeof(struct sample), .options = rows},
                           bare = {.conf_size = 0};
    is_int(plugin_options_check_table(&plugin, &err), 0, "good rows");
    is_int(plugin_options_check_table(&bare, &err), 0, "no rows");
    bad_row((struct tc_option){.key = "Url"}, "option 2: invalid key; use [a-z][a-z0-9_]*");
    bad_row((struct tc_option){.key = ""}, "option 2: invalid key; use [a-z][a-z0-9_]*");
    bad_row((struct tc_option){.key = "url"}, "option \"url\": declared twice");
    bad_row((struct tc_option){.key = "b", .type = (enum tc_type)9},
            "option \"b\": unknown type 9");
    bad_row((struct tc_option){.key = "b", .type = TC_T_INT, .offset = sizeof(struct sample)},
            "option \"b\": offset 40 does not fit a structure of 40 bytes");
    bad_row((struct tc_option){.key = "b", .type = TC_T_INT, .offset = 12},
            "option \"b\": offset 12 does not fit a structure of 40 bytes");
    bad_row((struct tc_option){.key = "b", .offset = SIZE_MAX - 7},
            "option \"b\": offset 18446744073709551608 does not fit a structure of 40 bytes");
    bad_row((struct tc_option){.key = "b", .type = TC_T_INT, .dflt = "many"},
            "invalid default \"many\"; expected an integer");
}

/* Of --plugin; t_conf has what is no list. */
static void test_lists_of_command_line(void)
{
    struct conf *const c = conf_load(NULL, &err);
    conf_remove_instances(c);
    is_int(
        conf_add_plugin(c, "jsonl,ports=443 80,paths=/srv /var/x,allow=7 ann,grants=submit", &err),
        0, "lists, with spaces between their elements");
    const struct conf_instance *const i = &c->instances[0];
    ok(i->ports[0] == 443 && i->ports[1] == 80 && i->ports[2] == 0, "ports");
    is_str(i->paths[1], "/var/x", "paths");
    is_str(i->allow[0], "7", "IDs: a number");
    is_str(i->allow[1], "ann", "and a name");
    is_int(i->grants, CONF_SUBMIT, "grants");
    conf_unref(c);
}

int main(void)
{
    plan_lazy();
    test_values();
    test_refusals();
    test_secrets();
    test_secret_forms();
    test_paths();
    test_secret_files();
    test_relative_secret_files();
    test_rows();
    test_lists_of_command_line();
    log_forget_secrets();
    arena_fini(&arena);
}
