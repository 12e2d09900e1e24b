/* SPDX-License-Identifier: MIT
 * What conversations may choose: models, cwds, agent_choices, bindings. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/conf.h"
#include "tap/tap.h"

#define AGENTS                                                                                     \
    "agents : { a : { command = [\"x\", \"--model={model}\"]; cwd = \"/srv/a\";\n"                 \
    "  models = [\"big\", \"small\"]; cwds = [\"/srv/one\", \"/srv/two\"]; };\n"                   \
    "  b : { command = [\"y\"]; }; };\ndefault_agent = \"a\";\n"

static struct conf *load(const char *agents, const char *keys, struct tc_err *err)
{
    char file[512], text[2000];
    snprintf(file, sizeof file, "%s/conf", tap_tmpdir());
    snprintf(text, sizeof text, "%splugins : { instances : { tg : { %s }; }; };", agents, keys);
    tap_spew(file, text, strlen(text));
    chmod(file, 0600);
    return conf_load(file, err);
}

static void test_variants(void)
{
    struct tc_err err = {0};
    struct conf *const c = load(AGENTS, "", &err);
    const struct conf_agent *const a = c ? conf_agent_find(c, "a") : NULL;
    if (!a)
        bail("%s", err_format(&err));
    is_int(c->n_variants, 8, "each choice of two lists, but for none of both");
    ok(conf_agent_choose(c, a, NULL, NULL) == a, "no choice is the agent");
    const struct conf_agent *v = conf_agent_choose(c, a, "small", "/srv/two");
    is_str(v->variant.model, "small", "a model");
    is_str(v->cwd, "/srv/two", "in a folder");
    is_str(conf_agent_session_name(v), "a@/srv/two", "a session belongs to its folder");
    ok(conf_agent_find_again(c, v) == v, "the same is found again");
    v = conf_agent_choose(c, a, "big", NULL);
    is_str(v->cwd, "/srv/a", "a model alone");
    is_str(conf_agent_session_name(v), "a", "goes on in the session");
    ok(!conf_agent_choose(c, a, "huge", NULL), "another model is not listed");
    ok(!conf_agent_choose(c, conf_agent_find(c, "b"), "big", NULL), "nor is one of another agent");
    conf_unref(c);
}

static const char *chat_of(const struct conf *c, const char *key)
{
    const struct conf_binding *const b = conf_binding_find(conf_instance_find(c, "tg"), key);
    return b ? b->model ? b->model : b->agent : NULL;
}

static void test_bindings(void)
{
    struct tc_err err = {0};
    struct conf *const c = load(AGENTS,
                                "bindings = ( { chat = -7; thread = 3; model = \"big\"; },"
                                "{ chat = \"-7\"; agent = \"b\"; } ); agent_choices = [\"b\"];",
                                &err);
    if (!c)
        bail("%s", err_format(&err));
    is_str(chat_of(c, "tg:-7:3"), "big", "a topic");
    is_str(chat_of(c, "tg:-7"), "b", "a chat");
    is_str(chat_of(c, "tg:-7:4"), "b", "all other topics of the chat");
    ok(!chat_of(c, "tg:-77"), "another chat is not bound");
    ok(!chat_of(c, "tgg:-7"), "nor is one of another instance");
    const struct conf_instance *const tg = conf_instance_find(c, "tg");
    ok(conf_chat_allows_agent(c, tg, conf_agent_find(c, "a")), "the agent of the instance");
    ok(conf_chat_allows_agent(c, tg, conf_agent_find(c, "b")), "one of its choices");
    conf_unref(c);
}

static void test_errors(void)
{
    static const struct {
        const char *agents, *keys, *wanted;
    } rows[] = {
        {"agents : { a : { command = [\"x\"]; models = [\"m\"]; }; };\n", "",
         "agents.a: models requires {model} in command; add for example \"--model={model}\""},
        {"agents : { a : { command = [\"x\", \"{model}\"]; models = [\"-m\"]; }; };\n", "",
         "agents.a.models[0]: invalid name \"-m\"; use no blanks, no leading \"-\", at most 100 "
         "bytes"},
        {AGENTS, "agent_choices = [\"c\"];",
         "plugins.instances.tg.agent_choices: unknown agent \"c\" (configured: a, b)"},
        {AGENTS, "bindings = ( { model = \"big\"; } );",
         "plugins.instances.tg.bindings[0]: required key \"chat\" is missing"},
        {AGENTS, "bindings = ( { chat = 1; model = \"huge\"; } );",
         "plugins.instances.tg.bindings: model \"huge\" is not listed in agents.a.models"},
        {AGENTS, "bindings = ( { chat = 1; cwd = \"/srv\"; } );",
         "plugins.instances.tg.bindings: cwd \"/srv\" is not listed in agents.a.cwds"},
        {AGENTS, "bindings = ( { chat = 1; agent = \"c\"; } );",
         "plugins.instances.tg.bindings: unknown agent \"c\" (configured: a, b)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tc_err err = {0};
        ok(!load(rows[i].agents, rows[i].keys, &err), "refused");
        const char *const text = err_format(&err), *const found = strstr(text, rows[i].wanted);
        ok(found && !found[strlen(rows[i].wanted)], "%s in %s", rows[i].wanted, text);
    }
}

int main(void)
{
    plan_lazy();
    test_variants();
    test_bindings();
    test_errors();
    return 0;
}
