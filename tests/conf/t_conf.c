/* SPDX-License-Identifier: MIT
 * What a configuration file means: every key, every default. */
#include "conf/conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "conf/conf_kit.h"
#include "tap/tap.h"

static void test_built_in(void)
{
    struct tc_err err;
    struct conf *c = conf_load(NULL, &err);
    is_str(c->file, "(built in)", "no file");
    ok(c->n_agents == 0 && !conf_agent_find(c, NULL), "no agent, so no default one");
    const struct conf_instance *const only = c->n_instances == 1 ? &c->instances[0] : NULL;
    ok(only && strcmp(only->name, "cli") == 0 && strcmp(only->plugin, "cli") == 0, "one: cli");
    ok(only && only->enabled && !only->options[0].key, "enabled, without options");
    ok(c->log_level == LOG_WARN && c->log_format == LOG_TEXT, "the log");
    for (size_t i = 0; i < 5; i++)
        is_int(c->show[i], -1, "switch %zu is unset", i);
    conf_unref(c);
    conf_unref(NULL);
}

static void test_empty(void)
{
    struct conf *c = conf_kit_load("# nothing\n");
    is_str(c->file, conf_kit_file(), "the file's name");
    is_int(c->n_instances, 1, "a file that names no instances has cli");
    conf_unref(c);
    c = conf_kit_load("plugins : { instances : { } }");
    is_int(c->n_instances, 0, "one that names none on purpose has none");
    conf_unref(c);
}

static void test_agent_defaults(void)
{
    struct conf *c = conf_kit_load("agents : {\n  solo : { command = [\"claude\", \"-p\"]; };\n};");
    const struct conf_agent *a = conf_agent_find(c, NULL);
    is_str(a->name, "solo", "the only agent is the default one");
    is_str(conf_kit_join(a->command), "claude|-p", "command");
    is_str(conf_kit_join(a->resume), "", "resume");
    is_str(conf_kit_join(a->env_pass), "", "env_pass");
    is_str(conf_kit_join(a->env_set), "", "env_set");
    is_str(a->dialect, "claude", "dialect");
    ok(!a->mode, "mode");
    ok(!a->cwd, "cwd");
    is_str(conf_kit_join(a->prefix), "", "prefix");
    is_str(conf_agent_program(a), "claude", "so it is itself executed");
    ok(!a->user && conf_check_agent_user(c, a, NULL) == 0, "user");
    ok(!a->limits.memory_mb && !a->limits.processes && !a->limits.files && !a->limits.cpu_s,
       "limits: none");
    is_int(a->turn_timeout_ms, 3600000, "turn_timeout_s: an hour");
    is_int(a->idle_timeout_ms, 900000, "idle_timeout_s: a quarter");
    is_int(a->grace.exit_ms, 5000, "exit_grace_s");
    is_int(a->grace.term_ms, 5000, "term_grace_s");
    is_int(a->max_line, 16 << 20, "max_line_bytes");
    is_int(a->attempts, 3, "attempts");
    is_int(a->ask_timeout_ms, 300000, "ask_timeout_s: five minutes");
    is_int(a->n_rules, 0, "approvals: none");
    is_int(a->line, 2, "line");
    conf_unref(c);
}

/* Root may run it as itself, and nobody else may. */
static void test_user(const struct conf *c, const struct conf_agent *a)
{
    struct tc_err err = {0};
    is_str(a->user->name, "root", "user");
    ok(a->user->uid == 0 && a->user->gid == 0, "by its ids");
    ok(a->user->n_groups > 0 && a->user->home[0] == '/', "with its groups and its home");
    const bool is_root = geteuid() == 0;
    if (is_root) {
        is_int(conf_check_agent_user(c, a, &err), 0, "root may");
        if (seteuid(65534) < 0)
            bail("no other user");
    }
    is_int(conf_check_agent_user(c, a, &err), -1, "somebody else may not");
    is_str(err.text, "agents.b.user: turncast must run as root to become \"root\"", "and says so");
    has_str(err.place, ":3", "and where");
    if (is_root && seteuid(0) < 0)
        bail("not root any more");
}

static void test_agent(void)
{
    struct conf *c = conf_kit_load(
        "agents : {\n"
        "  a : { command = [\"x\"]; };\n"
        "  b : {\n"
        "    command = (\"agent\", \"--id\", \"{session_id}\", \"{conversation}\");\n"
        "    resume = [\"--resume\", \"{session_id}\"];\n"
        "    dialect = \"other\";\n"
        "    mode = \"plan\";\n"
        "    cwd = \"work\";\n"
        "    env_pass = [\"HTTP_PROXY\", \"LANG\"];\n"
        "    env_set = [\"A=b=c\", \"EMPTY=\"];\n"
        "    turn_timeout_s = 1.5;\n"
        "    idle_timeout_s = 0;\n"
        "    exit_grace_s = 0.0004;\n"
        "    term_grace_s = 2;\n"
        "    max_line_bytes = 4096;\n"
        "    attempts = 1;\n"
        "    prefix = [\"bwrap\", \"--dev-bind\", \"/\", \"/\"];\n"
        "    user = \"root\";\n"
        "    limits : { memory_mb = 512; processes = 100; files = 256; cpu_s = 60; };\n"
        "  };\n"
        "};\n"
        "default_agent = \"b\";\n");
    const struct conf_agent *a = conf_agent_find(c, NULL);
    is_str(a->name, "b", "default_agent");
    is_str(conf_kit_join(a->command), "agent|--id|{session_id}|{conversation}", "command");
    is_str(conf_kit_join(a->resume), "--resume|{session_id}", "resume");
    is_str(a->dialect, "other", "dialect");
    is_str(a->mode, "plan", "mode");
    is_str(a->cwd, conf_kit_below("work"), "cwd is below the file's folder");
    is_str(conf_kit_join(a->env_pass), "HTTP_PROXY|LANG", "env_pass");
    is_str(conf_kit_join(a->env_set), "A=b=c|EMPTY=", "env_set");
    is_int(a->turn_timeout_ms, 1500, "1.5 s");
    is_int(a->idle_timeout_ms, 0, "0: none");
    is_int(a->grace.exit_ms, 0, "0.4 ms is rounded");
    is_int(a->grace.term_ms, 2000, "2 s");
    is_int(a->max_line, 4096, "max_line_bytes");
    is_int(a->attempts, 1, "attempts");
    is_str(conf_kit_join(a->prefix), "bwrap|--dev-bind|/|/", "prefix");
    is_str(conf_agent_program(a), "bwrap", "is what is executed");
    is_int(a->limits.memory_mb, 512, "limits.memory_mb");
    is_int(a->limits.processes, 100, "limits.processes");
    is_int(a->limits.files, 256, "limits.files");
    is_int(a->limits.cpu_s, 60, "limits.cpu_s");
    test_user(c, a);
    is_str(conf_agent_find(c, "a")->name, "a", "by name");
    ok(!conf_agent_find(c, "none"), "an agent that is not there");
    conf_unref(c);

    c = conf_kit_load("agents : { a : { command = [\"x\"]; }; b : { command = [\"x\"]; }; };");
    ok(!conf_agent_find(c, NULL), "two agents, none the default");
    conf_unref(c);
    c = conf_kit_load(
        "agents : { a : { command = [\"x\"]; }; default : { command = [\"y\"]; }; };");
    is_str(conf_agent_find(c, NULL)->name, "default", "the one called default");
    conf_unref(c);
}

static const char *option(const struct conf_instance *inst, const char *key)
{
    for (const struct conf_option *p = inst->options; p->key; p++)
        if (strcmp(p->key, key) == 0)
            return p->value;
    return NULL;
}

static void test_instances(void)
{
    struct conf *c = conf_kit_load(
        "plugins : {\n"
        "  directory = [\"a\", \"/b\"];\n"
        "  autoload = true;\n"
        "  instances : {\n"
        "    jsonl : { };\n"
        "    log : {\n"
        "      plugin = \"./my.so\";\n"
        "      enabled = false;\n"
        "      visibility = \"all\";\n"
        "      audience = \"operator\"; language = \"de\";\n"
        "      wants = [\"state\", \"raw\"];\n"
        "      queue_events = 16;\n"
        "      queue_bytes = 65536;\n"
        "      init_ms = 250; callback_ms = 99; lead = false;\n"
        "      path = \"x, y\";\n"
        "      big = 3000000000;\n"
        "      hex = 0xFFFFFFFFFF;\n"
        "      neg = -5;\n"
        "      ratio = 0.1;\n"
        "      on = true;\n"
        "    };\n"
        "    third : { plugin = \"x.so\"; wants = \"raw\"; visibility = \"agent\"; };\n"
        "  };\n"
        "};\n");
    char want[1300];
    snprintf(want, sizeof want, "%s|/b", conf_kit_below("a"));
    is_str(conf_kit_join(c->plugin_dirs), want, "directories");
    ok(c->autoload, "autoload");
    is_int(c->n_instances, 3, "instances in their order");
    const struct conf_instance *i = &c->instances[0];
    is_str(i->plugin, "jsonl", "an instance is of the plugin it is called after");
    ok(i->enabled && !i->sees_all_set && !i->audience && !i->wants_state && !i->wants_raw,
       "defaults");
    ok(i->queue_events == 4096 && i->queue_bytes == 8 << 20, "of the queue");
    ok(i->init_ms == 0 && i->callback_ms == 0 && !i->scope.lead, "deadlines: the host's");
    i = &c->instances[1];
    is_str(i->plugin, conf_kit_below("./my.so"), "a path is below the file's folder");
    ok(!i->enabled && i->sees_all && i->sees_all_set && i->wants_state && i->wants_raw, "switches");
    ok(*i->audience == 'o' && i->chat.language == LANGUAGE_DE, "audience, language");
    ok(i->queue_events == 16 && i->queue_bytes == 65536, "queue");
    ok(i->init_ms == 250 && i->callback_ms == 99 && i->scope.lead == CONF_LEAD_EACH, "deadlines");
    is_str(option(i, "path"), "x, y", "a string for the plugin");
    is_str(option(i, "big"), "3000000000", "a number beyond 32 bits");
    is_str(option(i, "hex"), "1099511627775", "a hexadecimal one");
    is_str(option(i, "neg"), "-5", "a negative one");
    is_str(option(i, "ratio"), "0.1", "a real one");
    is_str(option(i, "on"), "true", "a boolean");
    is_int(i->options[1].line, 16, "with its line");
    is_int(i->line, 6, "the instance's line");
    i = &c->instances[2];
    ok(!i->wants_state && i->wants_raw && !i->sees_all && i->sees_all_set, "one wish, one view");
    is_str(i->plugin, conf_kit_below("x.so"), "a .so is a path");
    conf_unref(c);
}

static void test_rest(void)
{
    struct conf *c = conf_kit_load("state_directory = \"/var/x\";\n"
                                   "log : { level = \"debug\"; format = \"json\"; };\n"
                                   "plugins : { directory = \"p\"; };\n"
                                   "visibility : { show_tools = true; show_final = false; };\n");
    is_str(c->state_dir, "/var/x", "state_directory");
    ok(c->log_level == LOG_DEBUG && c->log_format == LOG_JSON, "log");
    is_str(conf_kit_join(c->plugin_dirs), conf_kit_below("p"), "one directory needs no brackets");
    static const int show[] = {-1, 1, -1, -1, 0};
    for (size_t i = 0; i < 5; i++)
        is_int(c->show[i], show[i], "switch %zu", i);
    conf_unref(c);
}

static void test_conversations(void)
{
    struct conf *c = conf_kit_load("");
    const struct conf_conversations *v = &c->conversations;
    ok(v->queue == 20 && v->debounce_ms == 500 && v->max_turns == 32 && v->per_user == 2,
       "conversations: the defaults");
    is_int(v->drain_ms, 30000, "drain_s");
    ok(!c->http.listen && !c->http.allow_remote, "no HTTP server");
    conf_unref(c);
    c = conf_kit_load("conversations : { queue = 3; debounce_ms = 0; max_turns = 1; per_user = 4;\n"
                      "  drain_s = 0.5; };\n"
                      "http : { listen = \"[::1]:0\"; };\n");
    v = &c->conversations;
    ok(v->queue == 3 && v->debounce_ms == 0 && v->max_turns == 1 && v->per_user == 4, "as said");
    is_int(v->drain_ms, 500, "half a second");
    is_str(c->http.listen, "[::1]:0", "http.listen");
    ok(!c->http.remote, "nobody else reaches it");
    conf_unref(c);
}

static void test_http(void)
{
    struct conf *c = conf_kit_load("");
    const struct conf_http *h = &c->http;
    ok(!h->listen && !h->hosts[0] && !h->origins[0] && !h->n_keys, "HTTP: nothing by default");
    ok(!h->sees_all && !h->continue_disconnected, "what the agent shows, and no turn for nobody");
    ok(!h->repeats_final, "and the answer once");
    is_int(h->max_body, 1 << 20, "bodies of 1 MiB");
    is_int(h->disconnect_grace_ms, 5000, "five seconds for a client to come back");
    conf_unref(c);
    c = conf_kit_load(
        "http : { allow_remote = true; listen = \"192.0.2.1:80\";\n"
        "  hosts = [\"bot.example.org\", \"[fe80::1]\", \"*\"];\n"
        "  origins = [\"https://a.example\", \"http://localhost:3000\"];\n"
        "  visibility = \"all\"; on_disconnect = \"continue\"; final_text = \"repeated\";\n"
        "  max_body = 65536; disconnect_grace_s = 1.5;\n"
        "  keys : { one : { secret = \"env:KEY\"; grants = [\"submit\", \"cancel\"]; };\n"
        "    two : { secret_file = \"two.key\"; grants = [\"watch\"]; };\n"
        "    three : { secret_file = \"${CREDENTIALS_DIRECTORY}/k\"; grants = [\"watch\"]; };\n"
        "  }; };");
    h = &c->http;
    ok(h->remote && h->allow_remote, "others may reach it if that is wanted");
    is_str(conf_kit_join(h->hosts), "bot.example.org|[fe80::1]|*", "hosts");
    is_str(conf_kit_join(h->origins), "https://a.example|http://localhost:3000", "origins");
    ok(h->sees_all && h->continue_disconnected, "visibility, on_disconnect");
    ok(h->repeats_final, "final_text");
    is_int(h->max_body, 65536, "max_body");
    is_int(h->disconnect_grace_ms, 1500, "disconnect_grace_s");
    is_int(h->n_keys, 3, "keys");
    is_str(h->keys[0].name, "one", "by name");
    is_int(h->keys[0].grants, CONF_SUBMIT | CONF_CANCEL, "with grants");
    ok(!h->keys[0].secret, "and no secret before somebody wants it");
    char path[640];
    snprintf(path, sizeof path, "file:%s", conf_kit_below("two.key"));
    is_str(h->keys[1].source, path, "a file is looked for beside the configuration");
    is_str(h->keys[2].source, "file:${CREDENTIALS_DIRECTORY}/k", "a credential is not");
    conf_unref(c);
}

static void test_proxy(void)
{
    struct conf *c = conf_kit_load("");
    ok(!c->proxy.url && !c->proxy.credentials, "proxy: none unless the file names one");
    is_str(c->proxy.no_proxy[0], "localhost", "this machine is reached without it");
    ok(c->proxy.no_proxy[2] && !c->proxy.no_proxy[3], "by its three names");
    conf_unref(c);
    c = conf_kit_load(
        "proxy : { url = \"socks5h://[2001:db8::1]:1080\"; credentials = \"ann:a:b\";\n"
        "no_proxy = [\".example.org\", \"10.0.0.1\"]; };");
    is_str(c->proxy.url, "socks5h://[2001:db8::1]:1080", "proxy.url");
    is_str(c->proxy.credentials, "ann:a:b", "proxy.credentials");
    is_str(c->proxy.no_proxy[0], ".example.org", "proxy.no_proxy");
    ok(c->proxy.no_proxy[1] && !c->proxy.no_proxy[2], "in the place of this machine");
    conf_unref(c);
    c = conf_kit_load("proxy : { url = \"http://proxy.example.org\"; no_proxy = [ ]; };");
    ok(!c->proxy.no_proxy[0], "no_proxy may be empty");
    conf_unref(c);
}

static void test_store(void)
{
    struct conf *c = conf_kit_load("");
    const struct conf_store *s = &c->store;
    ok(s->kind == CONF_SQLITE && s->port == 6379 && s->database == 0 && s->session_ttl_s == 86400 &&
           !s->path && !s->password && s->lock_s == 30 && s->lock_wait_s == 60,
       "store: the defaults");
    is_str(s->host, "127.0.0.1", "this machine's server");
    is_str(s->prefix, "agenticore", "with the keys of agenticore");
    conf_unref(c);
    c = conf_kit_load(
        "store : { kind = \"redis\"; redis : { address = \"redis.example.org:6380\";\n"
        "  prefix = \"bots\"; password = \"env:TURNCAST_TEST_PASSWORD\"; database = 3;\n"
        "  session_ttl_s = 60; lock_s = 0; lock_wait_s = 5; }; };\n");
    s = &c->store;
    ok(s->kind == CONF_REDIS && s->port == 6380 && s->database == 3, "as said");
    ok(s->session_ttl_s == 60 && s->lock_s == 0 && s->lock_wait_s == 5, "times");
    is_str(s->host, "redis.example.org", "a name");
    is_str(s->prefix, "bots", "prefix");
    is_str(s->password, "hunter2hunter2", "the password of the environment");
    CLEANUP_BUF struct buf told = {0};
    log_redact(&told, STR("AUTH hunter2hunter2"));
    ok(!strstr(told.p, "hunter2"), "is masked wherever it is told");
    log_forget_secrets();
    conf_unref(c);
    c = conf_kit_load("store : { redis : { address = \"[::1]:1\"; }; };");
    is_str(c->store.host, "::1", "an address of IPv6");
    conf_unref(c);
    c = conf_kit_load("store : { redis : { password = \"env:TURNCAST_NO_SUCH\"; }; };");
    ok(!c->store.password, "a password that nobody needs is not looked for");
    conf_unref(c);
    c = conf_kit_load("store : { redis : { address = \"/run/redis.sock\"; }; };");
    is_str(c->store.path, "/run/redis.sock", "a socket");
    ok(!c->store.host, "and no host then");
    conf_unref(c);
}

static void test_people(void)
{
    struct conf *c =
        conf_kit_load("agents : { a : { command = [\"x\"]; }; b : { command = [\"x\"]; }; };\n"
                      "plugins : { instances : {\n"
                      "  none : { };\n"
                      "  some : { agent = \"b\"; grants = [\"submit\", \"cancel\", \"answer\"];\n"
                      "    approvers = [12345];\n"
                      "    allow = (12345, \"U0123\", -7000000000);\n"
                      "    allow_chats = [-1001234567890]; };\n"
                      "  empty : { grants = [\"cancel\"]; allow = []; allow_chats = [];\n"
                      "    approvers = []; };\n"
                      "}; };\n");
    const struct conf_instance *i = &c->instances[0];
    ok(!i->agent && !i->grants && !i->allow && !i->allow_chats, "R21: nothing is granted");
    ok(!i->approvers, "whoever may is an approver");
    i = &c->instances[1];
    is_str(i->agent, "b", "agent");
    is_int(i->grants, CONF_SUBMIT | CONF_CANCEL | CONF_ANSWER, "grants");
    is_str(conf_kit_join(i->approvers), "12345", "approvers");
    is_str(conf_kit_join(i->allow), "12345|U0123|-7000000000", "people: numbers and names");
    is_str(conf_kit_join(i->allow_chats), "-1001234567890", "chats");
    ok(!i->options[0].key, "none of it goes to the plugin");
    i = &c->instances[2];
    is_int(i->grants, CONF_CANCEL, "one grant");
    ok(i->allow && !i->allow[0], "R21: nobody");
    ok(i->allow_chats && !i->allow_chats[0], "R21: no chat, which is not any chat");
    ok(i->approvers && !i->approvers[0], "R21: no approver, which is not anybody");
    conf_unref(c);
}

static void test_approvals(void)
{
    struct conf *c =
        conf_kit_load("agents : { a : { command = [\"x\"]; ask_timeout_s = 0; approvals = (\n"
                      "  { action = \"deny\"; tool = \"Bash\"; prefix = \"git push\"; },\n"
                      "  { action = \"allow\"; tool = \"mcp__f__*\"; argument = \"path\"; "
                      "exact = \"/a b\"; },\n"
                      "  { action = \"allow\"; tool = \"Read\"; },\n"
                      "  { tool = \"WebFetch\"; glob = \"https://*.x/**\"; action = \"ask\";\n"
                      "    to = [\"tg:-100:7\", \"tg:5\", \"sl\"]; }\n"
                      ");};};\n"
                      "plugins : { instances : { tg : { }; sl : { }; }; };\n");
    const struct conf_agent *const a = conf_agent_find(c, "a");
    is_int(a->ask_timeout_ms, 0, "ask_timeout_s = 0");
    is_int(a->n_rules, 4, "four rules");
    const struct conf_rule *r = a->rules;
    ok(r[0].action == CONF_DENY && r[0].match == CONF_PREFIX && !r[0].argument && !r[0].to,
       "one that denies by a prefix");
    is_str(r[0].tool, "Bash", "its tool");
    is_str(r[0].pattern, "git push", "its pattern");
    is_int(r[0].line, 2, "its line");
    ok(r[1].action == CONF_ALLOW && r[1].match == CONF_EXACT, "one that allows exactly");
    is_str(r[1].argument, "path", "by an argument");
    ok(r[2].match == CONF_ANY && !r[2].pattern, "one without a pattern");
    ok(r[3].action == CONF_ASK && r[3].match == CONF_GLOB, "one that asks by a glob");
    is_str(r[3].to[0].instance, "tg", "where it asks: an instance");
    is_str(r[3].to[0].chat, "-100", "its chat");
    is_str(r[3].to[0].thread, "7", "its thread");
    ok(!r[3].to[1].thread && strcmp(r[3].to[1].chat, "5") == 0, "a chat alone");
    ok(!r[3].to[2].chat && strcmp(r[3].to[2].instance, "sl") == 0, "an instance alone");
    ok(!r[3].to[3].instance, "and no more");
    conf_unref(c);
    c = conf_kit_load("agents : { a : { command = [\"x\"]; approvals = (\n"
                      "  { action = \"ask\"; tool = \"*\"; to = [\"cli\"]; }); }; };\n");
    is_str(c->agents[0].rules[0].to[0].instance, "cli", "cli is there when no instance is named");
    conf_unref(c);
}

/* libconfig alone would read these otherwise or not at all. */
static void test_text(void)
{
    struct conf *c = conf_kit_load("/* 99999999999999999999 @x */ // 99999999999999999999\n"
                                   "# 99999999999999999999 @include\n"
                                   "plugins : { instances : { n99999999999999999999-9 : {\n"
                                   "  s = \"99999999999999999999 @ # // \\\" /* \";\n"
                                   "  l = 5L; m = -2147483649; n = 2147483648; o = 1e3; } } }");
    const struct conf_instance *i = &c->instances[0];
    is_str(i->name, "n99999999999999999999-9", "digits of a name are no number");
    is_str(option(i, "s"), "99999999999999999999 @ # // \" /* ", "nor are those of a string");
    is_str(option(i, "l"), "5", "a number with L");
    is_str(option(i, "m"), "-2147483649", "one below 32 bits");
    is_str(option(i, "n"), "2147483648", "one above");
    is_str(option(i, "o"), "1000", "an exponent");
    conf_unref(c);
}

static void test_plugin_option(void)
{
    struct tc_err err = {0};
    struct conf *c = conf_load(NULL, &err);
    conf_remove_instances(c);
    is_int(c->n_instances, 0, "dropped");
    is_int(conf_add_plugin(c, "jsonl", &err), 0, "a plugin");
    is_int(conf_add_plugin(c, "jsonl,file=/tmp/x\\,y,n=007,visibility=agent,queue_events=99", &err),
           0, "the same again, with options");
    is_int(conf_add_plugin(c, "./dir/mine.so,wants=raw,wants=state,enabled=false,empty=", &err), 0,
           "a file");
    is_int(c->n_instances, 3, "three");
    is_str(c->instances[0].name, "jsonl", "first name");
    is_str(c->instances[1].name, "jsonl-2", "second name");
    const struct conf_instance *i = &c->instances[1];
    is_str(i->plugin, "jsonl", "its plugin");
    is_str(option(i, "file"), "/tmp/x,y", "a comma in a value");
    is_str(option(i, "n"), "007", "text stays text");
    ok(i->sees_all_set && !i->sees_all && i->queue_events == 99, "keys of the host");
    i = &c->instances[2];
    is_str(i->name, "mine", "named after the file");
    char *const here = getcwd(NULL, 0);
    char *const there = xasprintf("%s/dir/mine.so", here);
    is_str(i->plugin, there, "below the working directory, which its process does not share");
    free(there);
    free(here);
    ok(i->wants_raw && i->wants_state && !i->enabled, "wishes");
    is_str(option(i, "empty"), "", "an empty value");
    conf_unref(c);
}

static void test_plugin_errors(void)
{
    static const struct {
        const char *spec, *message;
    } rows[] = {
        {"", "--plugin: the name of a plugin or the path of a .so file is missing"},
        {",a=b", "--plugin: the name of a plugin or the path of a .so file is missing"},
        {"jsonl,file", "--plugin: \"file\" is not KEY=VALUE"},
        {"jsonl,=x", "--plugin: \"=x\" is not KEY=VALUE"},
        {"jsonl,", "--plugin: \"\" is not KEY=VALUE"},
        {"jsonl,queue_events=many", "--plugin: queue_events: expected an integer, found a string"},
        {"jsonl,queue_events=1", "--plugin: queue_events: 1 is out of range; use 16 to 1000000"},
        {"jsonl,enabled=maybe", "--plugin: enabled: expected true or false, found a string"},
        {"jsonl,agent=none",
         "--plugin: plugins.instances.jsonl.agent: unknown agent \"none\" (configured: none)"},
        {"jsonl,ports=443 web", "--plugin: ports[1]: expected a TCP port from 1 to 65535"},
        {"jsonl,visibility=x",
         "--plugin: visibility: invalid value \"x\"; valid values: agent, all"},
    };
    struct tc_err err = {0};
    struct conf *c = conf_load(NULL, &err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        is_int(conf_add_plugin(c, rows[i].spec, &err), -1, "\"%s\"", rows[i].spec);
        is_str(err_format(&err), rows[i].message, "says why");
    }
    is_int(c->n_instances, 1, "and nothing was added");
    conf_unref(c);
}

static void test_paths(void)
{
    static const char folders[] = "plugins : { directory = \"p\"; };";
    struct tc_err err;
    setenv("TURNCAST_PLUGIN_PATH", "/one::/two:", 1);
    setenv("XDG_STATE_HOME", "/state", 1);
    struct conf *c = conf_load(NULL, &err);
    is_str(conf_kit_join(c->plugin_dirs), "/one|/two", "TURNCAST_PLUGIN_PATH");
    is_str(c->state_dir, "/state/turncast", "XDG_STATE_HOME");
    conf_unref(c);
    setenv("TURNCAST_PLUGIN_PATH", "three", 1);
    ok(chdir(tap_tmpdir()) == 0, "elsewhere");
    c = conf_load(NULL, &err);
    is_str(conf_kit_join(c->plugin_dirs), conf_kit_below("three"),
           "a relative folder is made absolute");
    conf_unref(c);
    unsetenv("TURNCAST_PLUGIN_PATH");
    tap_spew("here.conf", folders, strlen(folders));
    c = conf_load("here.conf", &err);
    is_str(conf_kit_join(c->plugin_dirs), conf_kit_below("p"),
           "and so is one of a configuration named so");
    conf_unref(c);
    setenv("XDG_STATE_HOME", "relative", 1);
    setenv("HOME", "/home/me", 1);
    c = conf_load(NULL, &err);
    is_str(conf_kit_join(c->plugin_dirs), TURNCAST_PLUGINDIR, "the installed folder");
    is_str(c->state_dir, geteuid() == 0 ? "/var/lib/turncast" : "/home/me/.local/state/turncast",
           "a relative XDG_STATE_HOME does not count");
    conf_unref(c);
}

static void test_default_path(void)
{
    setenv("TURNCAST_CONFIG", "/named/it", 1);
    char *path = conf_default_path();
    is_str(path, "/named/it", "TURNCAST_CONFIG, be it there or not");
    free(path);
    unsetenv("TURNCAST_CONFIG");
    setenv("XDG_CONFIG_HOME", tap_tmpdir(), 1);
    path = conf_default_path();
    ok(!path || strcmp(path, TURNCAST_SYSCONFDIR "/turncast.conf") == 0,
       "without a file of the user: the system's or none");
    free(path);
    mkdir(conf_kit_below("turncast"), 0700);
    tap_spew(conf_kit_below("turncast/turncast.conf"), "", 0);
    path = conf_default_path();
    is_str(path, conf_kit_below("turncast/turncast.conf"), "the user's");
    free(path);
    setenv("HOME", tap_tmpdir(), 1);
    unsetenv("XDG_CONFIG_HOME");
    mkdir(conf_kit_below(".config"), 0700);
    path = conf_default_path();
    ok(!path || strcmp(path, conf_kit_below(".config/turncast/turncast.conf")) != 0,
       "not there yet");
    free(path);
    mkdir(conf_kit_below(".config/turncast"), 0700);
    tap_spew(conf_kit_below(".config/turncast/turncast.conf"), "", 0);
    path = conf_default_path();
    is_str(path, conf_kit_below(".config/turncast/turncast.conf"), "below the home directory");
    free(path);
}

int main(void)
{
    plan_lazy();
    test_built_in();
    test_empty();
    test_agent_defaults();
    test_agent();
    test_instances();
    test_rest();
    test_conversations();
    test_http();
    setenv("TURNCAST_TEST_PASSWORD", "hunter2hunter2", 1);
    test_proxy();
    test_store();
    test_people();
    test_approvals();
    test_text();
    test_plugin_option();
    test_plugin_errors();
    test_paths();
    test_default_path();
    return 0;
}
