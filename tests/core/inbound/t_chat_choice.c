/* SPDX-License-Identifier: MIT
 * The commands /agent, /model and /cwd: what is listed, what is chosen, and what then runs. */
#include "core/settings/bindings.h"

#include <stdio.h>
#include <string.h>

#include "core/stage.h"
#include "core/talk.h"
#include "tap/tap.h"

static char *models[] = {(char[]){"big"}, (char[]){"small"}, NULL}, *cwds[] = {NULL, NULL};
static char *others[] = {(char[]){"other"}, NULL};
static char folder[512], sessions[600];
static struct conf_agent agents[2], variants[3];

/* Two agents; the first has two models and a second folder. */
static void begin(void)
{
    talk_begin((const char *const[]){SAY_INIT, SAY_HI, SAY_RESULT, NULL});
    snprintf(folder, sizeof folder, "%s", tap_tmpdir());
    snprintf(sessions, sizeof sessions, "fake@%s", folder);
    cwds[0] = folder;
    agents[0] = *talk.agent;
    agents[0].choices.models = models;
    agents[0].choices.cwds = cwds;
    agents[1] = *talk.agent;
    agents[1].name = others[0];
    for (size_t i = 0; i < 3; i++)
        variants[i] = agents[0];
    variants[0].variant.model = models[1];
    variants[1].cwd = variants[2].cwd = folder;
    variants[1].variant.sessions = variants[2].variant.sessions = sessions;
    variants[2].variant.model = models[1];
    talk.conf.agents = agents;
    talk.conf.n_agents = 2;
    talk.conf.default_agent = agents[0].name;
    talk.conf.variants = variants;
    talk.conf.n_variants = 3;
    talk.instances[0].chat.agents = others;
}

static void test_lists(void)
{
    begin();
    talk_is(talk_say("/agent"), TC_COMMAND,
            "Agents of this chat:\n1. fake (current)\n2. other\nSend /agent NAME to choose one.",
            "/agent lists the agents");
    talk_is(talk_say("!model"), TC_COMMAND,
            "Models of this chat:\n1. default (current)\n2. big\n3. small\n"
            "Send !model NAME to choose one.",
            "!model lists the models");
    talk_is(talk_say("/model huge"), TC_COMMAND,
            "\"huge\" is not in the list.\nModels of this chat:\n1. default (current)\n2. big\n"
            "3. small\nSend /model NAME to choose one.",
            "a model that is not in the list is refused");
    talk_is(talk_as("sl", "1", "A", "/agent"), TC_COMMAND, "This chat has one agent: fake.",
            "/agent in an instance with one agent");
    is_int(talk.disk.n, 0, "no agent is started");
    talk_end("lists");
}

static void test_agent(void)
{
    begin();
    talk_is(talk_say("/agent other"), TC_COMMAND,
            "The agent other answers from your next message on.", "/agent selects another agent");
    talk_say("hello");
    talk_await_quiet();
    is_str(talk.disk.key, "session:other:tg:A", "the selected agent has its own session");
    ok(strstr(talk_say("/start").answer, "go to the agent other,"),
       "/start names the selected agent");
    ok(strstr(talk_say("/status").answer, "Agent: other.\n"), "/status names the selected agent");
    talk_is(talk_as("tg", "1", "B", "/agent"), TC_COMMAND,
            "Agents of this chat:\n1. fake (current)\n2. other\nSend /agent NAME to choose one.",
            "another chat keeps its agent");
    talk_is(talk_say("/model"), TC_COMMAND, "The agent other has one model.",
            "the selected agent has one model");
    talk.instances[0].chat.agents = NULL;
    ok(strstr(talk_say("/start").answer, "go to the agent fake,"),
       "an agent that was removed from the list is not selected any more");
    talk.instances[0].chat.agents = others;
    talk_is(talk_say("/agent 1"), TC_COMMAND, "The agent fake answers from your next message on.",
            "/agent selects an agent by its number");
    talk_end("agents");
}

static void test_model_and_cwd(void)
{
    begin();
    talk_is(talk_say("/model small"), TC_COMMAND, "The model is small from your next message on.",
            "/model selects a model");
    talk_say("hello");
    talk_await_quiet();
    is_str(talk.disk.key, "session:fake:tg:A", "the session continues with another model");
    const char *const name = strrchr(folder, '/') + 1;
    char command[300];
    snprintf(command, sizeof command, "/cwd %s", name);
    is_int(talk_say(command).accepted, TC_COMMAND, "/cwd selects a directory by its last part");
    ok(strstr(talk_say("/status").answer, "Agent: fake. Model: small. Directory: /"),
       "/status has the model and the directory");
    talk_say("hello");
    talk_await_quiet();
    char key[700];
    snprintf(key, sizeof key, "session:fake@%s:tg:A", folder);
    ok(strncmp(talk.disk.key, key, sizeof talk.disk.key - 1) == 0,
       "a directory has its own session");
    char dumped[600];
    snprintf(dumped, sizeof dumped, "\"%s\"", folder);
    ok(talk_dumped(dumped), "the agent runs in the selected directory");
    talk_end("models and directories");
}

/* The next host knows what was chosen. */
static void test_later(void)
{
    begin();
    talk_say("/model small");
    talk_say("/agent other");
    talk_say("/agent default");
    struct bindings *const b = bindings_new(&talk.disk);
    const struct conf_agent *const agent =
        bindings_find_agent(b, &talk.conf, &talk.instances[0], "tg:A");
    ok(agent == &variants[0], "a choice survives a restart");
    bindings_free(b);
    talk_say("/model default");
    ok(!talk.disk.pairs[0].key || !strstr(talk.disk.pairs[0].key, "binding:"),
       "/model default deletes the stored choice");
    talk_end("restarts");
}

static void test_running(void)
{
    talk_begin(NULL);
    talk.instances[0].chat.agents = others;
    agents[0] = agents[1] = *talk.agent;
    agents[1].name = others[0];
    talk.conf.agents = agents;
    talk.conf.n_agents = 2;
    talk.conf.default_agent = agents[0].name;
    talk_say("work");
    talk_await_working(1);
    talk_is(talk_say("/agent other"), TC_COMMAND,
            "The agent other answers from your next message on. The running turn is not affected.",
            "/agent is accepted while a turn runs");
    talk_finish(0);
    talk_await_quiet();
    is_str(talk.disk.key, "session:fake:tg:A", "the running turn keeps its agent");
    talk_end("a running turn");
}

static void test_bound(void)
{
    begin();
    static const struct conf_binding bound[] = {
        {.chat = "A", .thread = "7", .model = "small", .line = 1}, {0}};
    talk.instances[0].chat.bindings = bound;
    ok(bindings_find_agent(talk.bindings, &talk.conf, &talk.instances[0], "tg:A:7") == &variants[0],
       "a topic with a binding has its model");
    ok(bindings_find_agent(talk.bindings, &talk.conf, &talk.instances[0], "tg:A") == &agents[0],
       "another topic has the default");
    talk_end("bindings");
}

int main(void)
{
    plan_lazy();
    talk_init();
    test_lists();
    test_agent();
    test_model_and_cwd();
    test_later();
    test_running();
    test_bound();
    return 0;
}
