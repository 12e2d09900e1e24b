/* SPDX-License-Identifier: MIT
 * Which turns an instance is told of: the keys turns, agents and conversations. */
#include "conf/conf_scope.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tap/tap.h"

#define AGENTS "agents : { a : { command = [\"x\"]; }; b : { command = [\"y\"]; }; };\n"
#define DEFAULT "default_agent = \"a\";\n"
#define SUBMITS "grants = [\"submit\"]; allow = [1];"

static struct conf *load(const char *head, const char *instances)
{
    char file[512], text[2000];
    struct tc_err err = {0};
    snprintf(file, sizeof file, "%s/conf", tap_tmpdir());
    snprintf(text, sizeof text, AGENTS DEFAULT "%s plugins : { instances : { %s }; };", head,
             instances);
    tap_spew(file, text, strlen(text));
    chmod(file, 0600);
    struct conf *const c = conf_load(file, &err);
    return c ? c : (bail("%s", err_format(&err)), NULL);
}

static const struct conf_scope_turn from_tg = {"a", "tg:1:2", "tg", NULL};
static const struct conf_scope_turn from_http = {"b", "http:ann:b:x", "http", NULL};
static const struct conf_scope_turn named = {"b", "http:ann:b:x", "http", "log2\ntg"};
static const struct conf_scope_turn by_run = {"a", NULL, NULL, NULL};

/* "1000": which of the four it is told of. */
static const char *told(const struct conf *c, const char *instance)
{
    static char out[5];
    const struct conf_scope_turn *const turns[] = {&from_tg, &from_http, &named, &by_run};
    const struct conf_instance *const inst = conf_instance_find(c, instance);
    for (size_t i = 0; i < 4; i++)
        out[i] = conf_scope_admits(inst, turns[i]) ? '1' : '0';
    return out;
}

static void is_told(const char *keys, const char *wanted, const char *what)
{
    char instances[1000];
    snprintf(instances, sizeof instances, "tg : { %s };", keys);
    struct conf *const c = load("", instances);
    is_str(told(c, "tg"), wanted, "%s", what);
    conf_unref(c);
}

static void test_name_lists(void)
{
    struct buf names = {0};
    conf_scope_add_names(&names, NULL);
    ok(names.len == 0 && conf_scope_has_names(NULL, NULL), "no names");
    conf_scope_add_names(&names, "tg\nlog");
    conf_scope_add_names(&names, "log\nlo\ntg\nlog2");
    is_str(names.p, "tg\nlog\nlo\nlog2", "each name once");
    ok(conf_scope_has_names(names.p, "log2\ntg") && conf_scope_has_names(names.p, NULL), "has all");
    ok(!conf_scope_has_names(names.p, "tg\nsl") && !conf_scope_has_names(NULL, "tg"), "lacks one");
    buf_fini(&names);
}

static void test_admits(void)
{
    is_told("", "1111", "without a word an instance sees all turns");
    is_told(SUBMITS, "1010", "one that may submit its own, and those that name it");
    is_told("grants = [\"answer\"];", "1111", "another grant changes nothing");
    is_told(SUBMITS "turns = \"all\";", "1111", "all of them when it says so");
    is_told("turns = \"own\";", "1010", "its own when it says so");
    is_told("agents = [\"a\"];", "1001", "agents");
    is_told("agents = \"b\";", "0110", "one agent");
    is_told("turns = \"own\"; agents = [\"a\"];", "1000", "who is named does not see other agents");
    is_told("conversations = [\"tg:1:2\"];", "1000", "a conversation");
    is_told("conversations = [\"tg:1\"];", "0000", "is not its threads");
    is_told("conversations = [\"tg:1*\"];", "1000", "unless a * is behind it");
    is_told("conversations = [\"tg:2\", \"http:*\"];", "0110", "several");
    is_told("conversations = \"*\";", "1111", "any, and none");
    is_told("conversations = [\"tg:1:23\"];", "0000", "a longer one");
    is_told("conversations = \"http:*\"; turns = \"own\";", "0010",
            "those that are its own, or name it");
}

/* Names are compared whole. */
static void test_names(void)
{
    struct conf *const c = load("", "g : { turns = \"own\"; }; log2 : { turns = \"own\"; };"
                                    "log : { turns = \"own\"; }; tgg : { turns = \"own\"; };");
    is_str(told(c, "log2"), "0010", "the first of two names");
    is_str(told(c, "g"), "0000", "a part of a name");
    is_str(told(c, "log"), "0000", "the beginning of one");
    is_str(told(c, "tgg"), "0000", "more than one");
    conf_unref(c);
}

static void has_any(const char *head, const char *keys, bool wanted, const char *what)
{
    char instances[1000];
    snprintf(instances, sizeof instances,
             "i : { %s }; tg : { " SUBMITS " }; off : { enabled = false; " SUBMITS " };", keys);
    struct conf *const c = load(head, instances);
    is_int(conf_scope_admits_any(c, conf_instance_find(c, "i")), wanted, "%s", what);
    conf_unref(c);
}

static void test_admits_any(void)
{
    static const char http[] = "http : { listen = \"127.0.0.1:0\"; };";
    has_any("", "", true, "all turns");
    has_any("", "turns = \"own\";", false, "its own, and it may not submit");
    has_any("", SUBMITS, true, "its own");
    has_any("", SUBMITS "agents = [\"b\"];", false, "its own, of another agent than it has");
    has_any("", SUBMITS "agent = \"b\"; agents = [\"b\"];", true, "of the agent that it has");
    has_any("", SUBMITS "conversations = [\"tg:*\"];", false, "its own, of another instance");
    has_any("", SUBMITS "conversations = [\"i:1\"];", true, "one of its own");
    has_any("", SUBMITS "conversations = [\"*\"];", true, "any of its own");
    has_any("", "conversations = [\"tg:*\"];", true, "those of another instance");
    has_any("", "conversations = [\"tg:*\"]; agents = [\"b\"];", false, "  of another agent");
    has_any("", "conversations = [\"off:*\"];", false, "of one that is not enabled");
    has_any("", "conversations = [\"http:key:*\"];", false, "over HTTP, and nobody listens");
    has_any("", "conversations = [\"http:local:a:*\"];", true, "  but send has the control socket");
    has_any("", "conversations = [\"http:*\"];", true, "  also of all sources of this name");
    has_any("", "conversations = [\"openai:*\"];", false, "  by which nobody uses that interface");
    has_any(http, "conversations = [\"http:key:*\"]; agents = [\"b\"];", true, "  somebody does");
    has_any("", "conversations = [\"notes\"];", true, "a conversation of run");
}

static void test_describe(void)
{
    struct conf *const c = load("", "tg : { " SUBMITS "agents = [\"a\", \"b\"]; };"
                                    "log : { conversations = [\"tg:*\"]; };");
    struct buf out = {0};
    conf_scope_describe(&c->instances[0], &out);
    is_str(out.p, "own turns of a, b", "own turns");
    buf_reset(&out);
    conf_scope_describe(&c->instances[1], &out);
    is_str(out.p, "all turns in tg:*", "all turns");
    buf_fini(&out);
    conf_unref(c);
}

/* ---- what is wrong with them ---- */

static void is_refused(const char *keys, const char *message)
{
    char file[512], text[1000];
    struct tc_err err = {0};
    snprintf(file, sizeof file, "%s/wrong", tap_tmpdir());
    snprintf(text, sizeof text, AGENTS "plugins : { instances : { tg : {\n%s }; log : { }; }; };",
             keys);
    tap_spew(file, text, strlen(text));
    chmod(file, 0600);
    struct conf *const c = conf_load(file, &err);
    ok(!c, "refused: %s", keys);
    has_str(err_format(&err), message, "  with a reason");
    conf_unref(c);
}

static void test_errors(void)
{
    is_refused("turns = \"mine\";",
               ":3: plugins.instances.tg.turns: invalid value \"mine\"; valid values: own, all");
    is_refused("agents = [];",
               ":3: plugins.instances.tg.agents: expected 1 to 100 strings, found 0");
    is_refused("agents = 1;",
               ":3: plugins.instances.tg.agents: expected a list of strings, found an integer");
    is_refused("agents = [\"\"];", ":3: plugins.instances.tg.agents[0]: must not be empty");
    is_refused("agents = [\"a\",\n\"cc\"];",
               ":3: plugins.instances.tg.agents: unknown agent \"cc\" (configured: a, b)");
    is_refused("\nconversations = [\"tg:*1\"];", ":4: plugins.instances.tg.conversations: invalid "
                                                 "pattern \"tg:*1\"; use * at its end only");
    is_refused("conversations = [\"lgo:1\"];",
               ":3: plugins.instances.tg.conversations: unknown instance \"lgo\" in \"lgo:1\" (did "
               "you mean \"log\"?)");
    is_refused("conversations = [\"log\"];",
               ":3: plugins.instances.tg.conversations: \"log\" is no "
               "conversation (did you mean \"log:*\"?)");
}

static void test_did_you_mean(void)
{
    char file[512];
    struct tc_err err = {0};
    static const char text[] = "agents : { claude : { command = [\"x\"]; }; };\n"
                               "plugins : { instances : { log : { agents = [\"cluade\"]; }; }; };";
    snprintf(file, sizeof file, "%s/near", tap_tmpdir());
    tap_spew(file, text, strlen(text));
    chmod(file, 0600);
    ok(!conf_load(file, &err), "a name that is nearly one");
    has_str(err.text, "unknown agent \"cluade\" (did you mean \"claude\"?)", "  is told which");
}

static void test_command_line(void)
{
    struct conf *const c = load("", "tg : { };");
    struct tc_err err = {0};
    ok(conf_add_plugin(c, "jsonl,turns=own,agents=a,conversations=tg:*", &err) == 0, "--plugin");
    is_str(told(c, "jsonl"), "0000", "has a scope, too");
    ok(conf_add_plugin(c, "null,agents=other", &err) < 0,
       "and one with an agent that is not there");
    is_str(err.text, "plugins.instances.null.agents: unknown agent \"other\" (configured: a, b)",
           "  is refused");
    conf_unref(c);
}

int main(void)
{
    plan_lazy();
    test_admits();
    test_name_lists();
    test_names();
    test_admits_any();
    test_describe();
    test_errors();
    test_did_you_mean();
    test_command_line();
}
