/* SPDX-License-Identifier: MIT
 * Tests of conf/option_rules.h: every kind of rule, through plugin_options_check and
 * plugin_options_parse. */
#include "conf/options/option_rules.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/options/plugin_options.h"
#include "tap/tap.h"

struct sample {
    const char *mode, *url, *path, *a, *b, *token;
    const char *const *words;
    int64_t wait, size, count;
    double ratio;
    bool on;
};

static const struct tc_option rows[] = {
    TC_OPTION(struct sample, mode, "auto", 0, ""),
    TC_OPTION(struct sample, url, NULL, 0, ""),
    TC_OPTION(struct sample, path, NULL, 0, ""),
    TC_OPTION(struct sample, a, NULL, 0, ""),
    TC_OPTION(struct sample, b, NULL, 0, ""),
    TC_OPTION(struct sample, token, NULL, TC_SECRET, ""),
    TC_OPTION(struct sample, words, "x y", 0, ""),
    TC_OPTION(struct sample, wait, "2000", 0, ""),
    TC_OPTION(struct sample, size, "1024", 0, ""),
    TC_OPTION(struct sample, count, "1", 0, ""),
    TC_OPTION(struct sample, ratio, "0.5", 0, ""),
    TC_OPTION(struct sample, on, "false", 0, ""),
    {0},
};

#define RULES(...) ((const struct tc_rule[]){__VA_ARGS__, {0}})
#define RULE(key_, kind_, ...) ((struct tc_rule){.key = (key_), .kind = (kind_), __VA_ARGS__})
#define PAIRS(...) ((const struct conf_option[]){__VA_ARGS__, {0}})
#define PAIR(k, v)                                                                                 \
    ((struct conf_option){(char *)(uintptr_t)(k), (char *)(uintptr_t)(v), NULL, 12, NULL, false})
#define NO_PAIRS ((const struct conf_option[]){{0}})

static struct sample filled;
static struct arena arena;

/* The first finding as check tells it; "" if there is none. */
static const char *check_with(const struct tc_rule *rules, const struct conf_option *pairs,
                              const char *listen)
{
    static char text[1024];
    const struct tc_plugin plugin = {
        .conf_size = sizeof(struct sample), .options = rows, .rules = rules};
    struct conf conf = {.file = (char *)(uintptr_t) "my.conf"};
    struct conf_instance inst = {.name = (char *)(uintptr_t) "i", .line = 7};
    struct findings found = {0};
    struct tc_err err = {0};
    conf.http.listen = (char *)(uintptr_t)listen;
    inst.options = (struct conf_option *)(uintptr_t)pairs;
    *text = 0;
    if (plugin_options_check_table(&plugin, &err) < 0)
        bail("%s", err.text);
    if (plugin_options_check(&plugin, &conf, &inst, &found) < 0) {
        findings_take_first(&found, &err);
        snprintf(text, sizeof text, "%s", err_format(&err));
    }
    findings_fini(&found);
    filled = (struct sample){0};
    const struct plugin_options_source source = {"i", pairs, "my.conf", NULL, 7};
    if (plugin_options_parse(&filled, &plugin, &source, &arena, &err) < 0 && !*text)
        bail("parse is stricter than check: %s", err.text);
    return text;
}

static const char *check(const struct tc_rule *rules, const struct conf_option *pairs)
{
    return check_with(rules, pairs, NULL);
}

#define AT "my.conf:12: plugins.instances.i."

static void test_one_of(void)
{
    const struct tc_rule *const rules = RULES(RULE("mode", TC_RULE_ONE_OF, .text = "auto rich"));
    is_str(check(rules, PAIRS(PAIR("mode", "rich"))), "", "a word of the list");
    is_str(check(rules, PAIRS(PAIR("mode", "pretty"))),
           AT "mode: invalid value \"pretty\"; valid values: auto, rich", "another word");
    is_str(check(rules, PAIRS(PAIR("mode", "auto rich"))),
           AT "mode: invalid value \"auto rich\"; valid values: auto, rich", "two of them");
    is_str(check(rules, PAIRS(PAIR("mode", ""))),
           AT "mode: invalid value \"\"; valid values: auto, rich", "none");
}

static void test_range(void)
{
    const struct tc_rule *const rules =
        RULES(RULE("count", TC_RULE_RANGE, .min = 1, .max = 50),
              RULE("ratio", TC_RULE_RANGE, .min = 0, .max = 1),
              RULE("size", TC_RULE_RANGE, .min = 0, .max = INT64_MAX));
    is_str(check(rules, PAIRS(PAIR("count", "50"), PAIR("ratio", "1"))), "", "within bounds");
    is_str(check(rules, PAIRS(PAIR("count", "51"))), AT "count: 51 is out of range; use 1 to 50",
           "too great");
    is_str(check(rules, PAIRS(PAIR("ratio", "1.01"))), AT "ratio: 1.01 is out of range; use 0 to 1",
           "of a real number");
    is_str(check(rules, PAIRS(PAIR("size", "-1"))), AT "size: -1 is out of range; use 0 or more",
           "one bound");
    is_str(check(rules, PAIRS(PAIR("count", "many"))),
           AT "count: invalid value \"many\"; expected an integer", "its type comes first");
}

static void test_duration(void)
{
    const struct tc_rule *const rules = RULES(RULE("wait", TC_RULE_DURATION, .text = "ms"),
                                              RULE("wait", TC_RULE_RANGE, .min = 0, .max = 600000));
    is_str(check(rules, PAIRS(PAIR("wait", "5 min"))), "", "a duration");
    is_int(filled.wait, 300000, "  in the option's unit");
    is_str(check(rules, PAIRS(PAIR("wait", "1.5s"))), "", "without a space");
    is_int(filled.wait, 1500, "  in the option's unit");
    is_str(check(rules, PAIRS(PAIR("wait", "30"))), "", "a number");
    is_int(filled.wait, 30, "  is in the option's unit");
    is_str(check(rules, PAIRS(PAIR("wait", "2 h"))),
           AT "wait: 7200000 is out of range; use 0 to 600000 ms", "too long");
    is_str(check(rules, PAIRS(PAIR("wait", "5 parsec"))),
           AT
           "wait: invalid value \"5 parsec\"; use a number of ms, or a duration such as \"30 s\" "
           "(units: ms, s, min, h, d)",
           "another unit");
    is_str(check(rules, PAIRS(PAIR("wait", "soon"))),
           AT "wait: invalid value \"soon\"; use a number of ms, or a duration such as \"30 s\" "
              "(units: ms, s, min, h, d)",
           "no number");
    is_str(check(rules, PAIRS(PAIR("wait", "0.0005 s"))),
           AT "wait: the value \"0.0005 s\" is not a whole number of ms; use a multiple of 1 ms",
           "less than a unit");
}

static void test_size(void)
{
    const struct tc_rule *const rules = RULES(RULE("size", TC_RULE_SIZE, .text = "KiB"));
    is_str(check(rules, PAIRS(PAIR("size", "64 MiB"))), "", "a size");
    is_int(filled.size, 65536, "  in the option's unit");
    is_str(check(rules, PAIRS(PAIR("size", "64 MB"))),
           AT "size: invalid value \"64 MB\"; use a number of KiB, or a size such as \"64 MiB\" "
              "(units: B, KiB, MiB, GiB)",
           "another unit");
}

static void test_default(void)
{
    static const struct tc_option table[] = {TC_OPTION(struct sample, wait, "2 s", 0, ""), {0}};
    struct tc_plugin plugin = {.conf_size = sizeof(struct sample), .options = table};
    struct sample s = {0};
    struct tc_err err = {0};
    is_int(plugin_options_check_table(&plugin, &err), -1, "a default with a unit needs a rule");
    plugin.rules = RULES(RULE("wait", TC_RULE_DURATION, .text = NULL));
    is_int(plugin_options_check_table(&plugin, &err), -1, "a rule without its unit");
    has_str(err.text, "invalid text", "  is told before the default is read by it");
    plugin.rules = RULES(RULE("wait", TC_RULE_DURATION, .text = "ms"));
    is_int(plugin_options_check_table(&plugin, &err), 0, "with which it is good");
    const struct plugin_options_source source = {.file = "f"};
    is_int(plugin_options_parse(&s, &plugin, &source, &arena, &err), 0, "and filled");
    is_int(s.wait, 2000, "  in the option's unit");
}

static void test_url(void)
{
    static const char *const good[] = {"https://example.org", "http://127.0.0.1:8081/x?y=1#z",
                                       "https://[::1]:443/", "https://a-b.c_d/"};
    static const char *const bad[] = {"nourl",        "https://",        "ftp://example.org",
                                      "https:///x",   "https://a b/",    "https://a:0/",
                                      "https://a:x/", "https://a:99999", "https://[::1/",
                                      "https://[]/",  "//example.org"};
    const struct tc_rule *const rules = RULES(RULE("url", TC_RULE_URL, .text = "https http"),
                                              RULE("token", TC_RULE_URL, .text = "https"));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        is_str(check(rules, PAIRS(PAIR("url", good[i]))), "", "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char wanted[200];
        snprintf(wanted, sizeof wanted, AT "url: invalid URL \"%s\"; use https://HOST, http://HOST",
                 bad[i]);
        is_str(check(rules, PAIRS(PAIR("url", bad[i]))), wanted, "%s", bad[i]);
    }
    is_str(check(rules, PAIRS(PAIR("url", "https://me:hunter2@example.org/"))),
           AT "url: the URL contains a user name or password; remove it",
           "a password, which is not told");
    is_str(check(rules, PAIRS(PAIR("token", "http://hooks/hunter2hunter2"))),
           AT "token: invalid URL; use https://HOST", "a secret, which is not told");
}

static void test_paths(void)
{
    char file[256], missing[256], below[300], wanted[900];
    const char *const folder = tap_tmpdir();
    snprintf(file, sizeof file, "%s/file", tap_tmpdir());
    snprintf(missing, sizeof missing, "%s/none", folder);
    snprintf(below, sizeof below, "%s/none/file", folder);
    tap_spew(file, "x", 1);
    const struct tc_rule *const exists = RULES(RULE("path", TC_RULE_EXISTS)),
                                *const reads = RULES(RULE("path", TC_RULE_READS)),
                                *const writes = RULES(RULE("path", TC_RULE_WRITES));
    is_str(check(exists, PAIRS(PAIR("path", folder))), "", "it exists");
    snprintf(wanted, sizeof wanted,
             AT
             "path: cannot access \"%s\": No such file or directory; create it or change the path",
             missing);
    is_str(check(exists, PAIRS(PAIR("path", missing))), wanted, "it does not exist");
    is_str(check(reads, PAIRS(PAIR("path", missing))), wanted, "and cannot be read");
    is_str(check(reads, PAIRS(PAIR("path", file))), "", "it can be read");
    snprintf(wanted, sizeof wanted, AT "path: \"%s\" is a directory; use the path of a file",
             folder);
    is_str(check(reads, PAIRS(PAIR("path", folder))), wanted, "a directory is not read");
    is_str(check(writes, PAIRS(PAIR("path", folder))), wanted, "or written");
    is_str(check(writes, PAIRS(PAIR("path", file))), "", "it can be written");
    is_str(check(writes, PAIRS(PAIR("path", missing))), "", "or created");
    snprintf(wanted, sizeof wanted,
             AT "path: directory \"%s\": No such file or directory; create it or change the path",
             missing);
    is_str(check(writes, PAIRS(PAIR("path", below))), wanted, "not in a directory that is missing");
    snprintf(below, sizeof below, "%s/x", file);
    has_str(check(writes, PAIRS(PAIR("path", below))), "Not a directory", "nor below a file");
    is_str(check(writes, PAIRS(PAIR("path", ""))),
           AT "path: must not be empty; use the path of a file", "nor nowhere");
    check(writes, PAIRS(PAIR("path", "/none/x")));
    is_str(filled.path, "/none/x", "the instance itself looks at no path");
}

static void test_modes(void)
{
    char file[256], folder[256], inside[300];
    snprintf(file, sizeof file, "%s/closed", tap_tmpdir());
    snprintf(folder, sizeof folder, "%s/locked", tap_tmpdir());
    snprintf(inside, sizeof inside, "%s/file", folder);
    if (geteuid() == 0) {
        skip(3, "%s", "root may do everything");
        return;
    }
    tap_spew(file, "x", 1);
    chmod(file, 0);
    mkdir(folder, 0500);
    has_str(check(RULES(RULE("path", TC_RULE_READS)), PAIRS(PAIR("path", file))),
            "Permission denied; change its mode or the path", "a file that may not be read");
    has_str(check(RULES(RULE("path", TC_RULE_WRITES)), PAIRS(PAIR("path", file))),
            "cannot write \"", "or written");
    has_str(check(RULES(RULE("path", TC_RULE_WRITES)), PAIRS(PAIR("path", inside))),
            "is not writable: Permission denied", "a directory that may not be written");
}

static void test_groups(void)
{
    const struct tc_rule *const needs = RULES(RULE("a", TC_RULE_NEEDS, .text = "b"),
                                              RULE("on", TC_RULE_NEEDS, .text = "a b")),
                                *const exactly = RULES(RULE("a", TC_RULE_EXACTLY_ONE, .text = "b")),
                                *const some =
                                    RULES(RULE("a", TC_RULE_AT_LEAST_ONE, .text = "b url"));
    is_str(check(needs, NO_PAIRS), "", "neither");
    is_str(check(needs, PAIRS(PAIR("a", "1"), PAIR("b", "1"))), "", "both");
    is_str(check(needs, PAIRS(PAIR("b", "1"))), "", "only what is needed");
    is_str(check(needs, PAIRS(PAIR("a", "1"))), AT "a: requires b; set it, too",
           "only what needs it");
    is_str(check(needs, PAIRS(PAIR("on", "false"))), "", "a switch that is off needs nothing");
    is_str(check(needs, PAIRS(PAIR("on", "true"))), AT "on: requires a, b; set one of them, too",
           "one that is on does");
    is_str(check(exactly, NO_PAIRS),
           "my.conf:7: plugins.instances.i.a: nothing is set; set one of a, b", "none of two");
    is_str(check(exactly, PAIRS(PAIR("b", "1"))), "", "one of two");
    is_str(check(exactly, PAIRS(PAIR("a", "1"), PAIR("b", "1"))),
           AT "a: too much is set; set only one of a, b", "both of two");
    is_str(check(some, NO_PAIRS),
           "my.conf:7: plugins.instances.i.a: nothing is set; set one of a, b, url",
           "none of three");
    is_str(check(some, PAIRS(PAIR("url", "1"), PAIR("b", "1"))), "", "two of three");
}

static void bad_rule(struct tc_rule rule, const char *wanted)
{
    struct tc_err err = {0};
    is_int(option_rules_check_table(RULES(rule), rows, &err), -1, "bad rule: %s", wanted);
    has_str(err.text, wanted, "  says so");
}

static void test_list(void)
{
    const struct tc_rule *const rules = RULES(RULE("words", TC_RULE_ONE_OF, .text = "x y z"));
    is_str(check(rules, PAIRS(PAIR("words", "z x"))), "", "every element is a word of the list");
    is_str(check(rules, PAIRS(PAIR("words", "x w z"))),
           AT "words: invalid value \"w\"; valid values: x, y, z", "one is not");
    is_str(check(rules, PAIRS(PAIR("words", ""))), "", "an empty list has none");
    bad_rule(RULE("words", TC_RULE_ONE_OF, .text = "x"), "invalid default: invalid value \"y\"");
    bad_rule(RULE("words", TC_RULE_RANGE, .max = 1), "does not suit the type");
}

static void test_program(void)
{
    const struct tc_rule *const rules = RULES(RULE("words", TC_RULE_PROGRAM));
    is_str(check(rules, PAIRS(PAIR("words", "sh -c nothing"))), "", "a name that is found");
    is_str(check(rules, PAIRS(PAIR("words", "/bin/sh /no/such"))), "", "a path; only the first");
    is_str(check(rules, PAIRS(PAIR("words", ""))), AT "words: must not be empty; name a program",
           "nothing");
    is_str(check(rules, PAIRS(PAIR("words", "no-such-program-here x"))),
           AT "words: program \"no-such-program-here\" not found in "
              "/usr/local/bin:/usr/bin:/bin; install it, or write its full path",
           "a name that is not found");
    is_str(check(rules, PAIRS(PAIR("words", "/no/such x"))),
           AT "words: cannot access \"/no/such\": No such file or directory; create it or change "
              "the path",
           "a path that is missing");
    is_str(check(rules, PAIRS(PAIR("words", "/etc/passwd"))),
           AT "words: program \"/etc/passwd\" is not an executable file; run: chmod +x /etc/passwd",
           "a file that cannot be run");
    is_str(check(RULES(RULE("path", TC_RULE_PROGRAM)), PAIRS(PAIR("path", "/bin/sh"))), "",
           "of a text, too");
    bad_rule(RULE("count", TC_RULE_PROGRAM), "does not suit the type");
    bad_rule(RULE("token", TC_RULE_PROGRAM), "does not suit the type");
}

static void test_variable(void)
{
    const struct tc_rule *const rules =
        RULES(RULE("a", TC_RULE_VARIABLE), RULE("token", TC_RULE_VARIABLE));
    const char *const wrong[] = {"A", "=b", "9A=b", "A-B=c", ""};
    is_str(check(rules, PAIRS(PAIR("a", "A_9=b=c"))), "", "NAME=VALUE");
    is_str(check(rules, PAIRS(PAIR("a", "A="))), "", "without a value");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        has_str(check(rules, PAIRS(PAIR("a", wrong[i]))), "use NAME=VALUE, where", "\"%s\"",
                wrong[i]);
    is_str(check(rules, PAIRS(PAIR("token", "hunter2"))),
           AT
           "token: invalid variable; use NAME=VALUE, where NAME consists of letters, digits and _",
           "a secret is not told");
}

static void test_hex(void)
{
    const struct tc_rule *const rules = RULES(RULE("a", TC_RULE_HEX, .text = "4"));
    const char *const wrong[] = {"", "0aF", "0aF98", "0aFg", "0x12", " 0aF"};
    is_str(check(rules, PAIRS(PAIR("a", "0aF9"))), "", "four hexadecimal digits");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        is_str(check(rules, PAIRS(PAIR("a", wrong[i]))),
               AT
               "a: is not a number with this count of hexadecimal digits: 4; copy the value again",
               "\"%s\"", wrong[i]);
    bad_rule(RULE("a", TC_RULE_HEX), "invalid text");
    bad_rule(RULE("a", TC_RULE_HEX, .text = "many"), "invalid text");
    bad_rule(RULE("a", TC_RULE_HEX, .text = "0"), "invalid text");
    bad_rule(RULE("count", TC_RULE_HEX, .text = "4"), "does not suit the type");
}

static void test_server(void)
{
    const struct tc_rule *const rules = RULES(RULE("a", TC_RULE_SERVER));
    is_str(check(rules, NO_PAIRS), "", "without a server");
    is_str(check(rules, PAIRS(PAIR("a", "1"))), AT "a: requires the HTTP server; set http.listen",
           "which an option requires");
    is_str(check_with(rules, PAIRS(PAIR("a", "1")), "127.0.0.1:1"), "", "with one");
}

static void test_all_at_once(void)
{
    const struct tc_plugin plugin = {.conf_size = sizeof(struct sample),
                                     .options = rows,
                                     .rules = RULES(RULE("mode", TC_RULE_ONE_OF, .text = "auto"),
                                                    RULE("a", TC_RULE_NEEDS, .text = "b"))};
    const struct conf conf = {.file = (char *)(uintptr_t) "my.conf"};
    struct conf_option pairs[] = {
        PAIR("mode", "x"), PAIR("count", "y"), PAIR("a", "1"), PAIR("nothing", "1"), {0}};
    const struct conf_instance inst = {
        .name = (char *)(uintptr_t) "i", .line = 7, .options = pairs};
    struct findings found = {0};
    is_int(plugin_options_check(&plugin, &conf, &inst, &found), -1, "several errors");
    is_int((int64_t)found.errors, 4, "  are told at once");
    findings_fini(&found);
}

static void test_tables(void)
{
    struct tc_err err = {0};
    is_int(option_rules_check_table(NULL, rows, &err), 0, "no rules");
    is_int(option_rules_check_table(NULL, NULL, &err), 0, "nor options");
    bad_rule(RULE("none", TC_RULE_READS), "rule 1: unknown option");
    bad_rule(RULE("mode", (enum tc_rule_kind)0), "unknown kind 0");
    bad_rule(RULE("mode", (enum tc_rule_kind)99), "unknown kind 99");
    bad_rule(RULE("mode", TC_RULE_RANGE, .max = 1), "does not suit the type");
    bad_rule(RULE("on", TC_RULE_ONE_OF, .text = "a"), "does not suit the type");
    bad_rule(RULE("token", TC_RULE_READS), "does not suit the type");
    bad_rule(RULE("mode", TC_RULE_ONE_OF), "invalid text");
    bad_rule(RULE("mode", TC_RULE_ONE_OF, .text = " "), "invalid text");
    bad_rule(RULE("url", TC_RULE_URL, .text = "gopher"), "invalid text");
    bad_rule(RULE("wait", TC_RULE_DURATION, .text = "MiB"), "invalid text");
    bad_rule(RULE("a", TC_RULE_NEEDS, .text = "c"), "invalid text");
    bad_rule(RULE("count", TC_RULE_RANGE, .min = 2, .max = 1), "min is greater than max");
    bad_rule(RULE("mode", TC_RULE_ONE_OF, .text = "rich"), "invalid default: invalid value");
}

static void describes(struct tc_rule rule, const char *wanted)
{
    CLEANUP_BUF struct buf text = {0};
    option_rules_describe(&rule, &text);
    is_str(text.p, wanted, "%s", wanted);
}

static void test_descriptions(void)
{
    describes(RULE("a", TC_RULE_ONE_OF, .text = "x y"), "one of: x, y");
    describes(RULE("a", TC_RULE_RANGE, .min = 1, .max = 2), "from 1 to 2");
    describes(RULE("a", TC_RULE_DURATION, .text = "ms"), "duration; a number is in ms");
    describes(RULE("a", TC_RULE_URL, .text = "https ws"), "URL: https://HOST, ws://HOST");
    describes(RULE("a", TC_RULE_WRITES), "writable file");
    describes(RULE("a", TC_RULE_NEEDS, .text = "b"), "requires b");
}

int main(void)
{
    plan_lazy();
    test_one_of();
    test_range();
    test_duration();
    test_size();
    test_default();
    test_url();
    test_paths();
    test_modes();
    test_groups();
    test_list();
    test_program();
    test_variable();
    test_hex();
    test_server();
    test_all_at_once();
    test_tables();
    test_descriptions();
    arena_fini(&arena);
}
