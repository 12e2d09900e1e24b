/* SPDX-License-Identifier: MIT
 * The groups host and bus: every key, every default. */
#include "conf/conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "conf/conf_kit.h"
#include "tap/tap.h"

static bool is_redacted(const char *text)
{
    CLEANUP_BUF struct buf out = {0};
    log_redact(&out, (struct str){text, strlen(text)});
    return !strstr(out.p, text);
}

static void test_bus(void)
{
    char text[1000], host[256] = "";
    struct conf *c = conf_kit_load("# nothing\n");
    ok(!c->bus.urls && !c->host_name, "bus: none unless the file has one");
    conf_unref(c);
    c = conf_kit_load("host : { name = \"build-1_A\"; };\n");
    ok(!c->bus.urls && strcmp(c->host_name, "build-1_A") == 0, "a host may have a name alone");
    conf_unref(c);
    c = conf_kit_load("host : { name = \"h1\"; }; bus : { url = [\"nats://127.0.0.1:4222\"]; };\n");
    is_str(conf_kit_join(c->bus.urls), "nats://127.0.0.1:4222", "bus.url");
    is_str(c->bus.prefix, "tc", "bus.prefix by default");
    is_int(c->bus.replicas, 1, "bus.replicas by default");
    ok(!c->bus.runs.key, "no runs by default");
    ok(!c->bus.credentials && !c->bus.token && !c->bus.creds_file && !c->bus.tls.ca &&
           !c->bus.is_encrypted && !c->bus.insecure,
       "nothing else by default");
    conf_unref(c);
    c = conf_kit_load(
        "http : { listen = \"127.0.0.1:0\"; keys : { ann : { secret = \"x\"; grants = "
        "[\"submit\"]; }; }; };\n"
        "host : { name = \"h\"; }; bus : { url = [\"nats://[::1]:1\"]; runs : { key = \"ann\"; "
        "}; };\n");
    is_str(c->bus.runs.key, "ann", "bus.runs.key");
    ok(c->bus.runs.ag_ui && c->bus.runs.ai_sdk && c->bus.runs.max == 64,
       "runs of AG-UI and of the AI SDK, 64 by default");
    is_str(conf_kit_join(c->bus.runs.replies), "_INBOX.>", "to inboxes by default");
    conf_unref(c);
    gethostname(host, sizeof host - 1);
    host[strcspn(host, ".")] = '\0';
    c = conf_kit_load("bus : { url = [\"nats://localhost:1\"]; };\n");
    is_str(c->host_name, host, "host.name is the system's by default");
    conf_unref(c);
    tap_spew(conf_kit_below("bus.creds"), "-----BEGIN NATS USER JWT-----\nx\n", 32);
    chmod(conf_kit_below("bus.creds"), 0600);
    snprintf(text, sizeof text,
             "host : { name = \"h\"; }; bus : { url = [\"tls://10.0.0.5:4222\", "
             "\"nats://[::1]:1\"];\nprefix = \"t_2\"; replicas = 5; credentials_file = "
             "\"bus.creds\"; };\n");
    c = conf_kit_load(text);
    ok(c->bus.is_encrypted && !c->bus.insecure, "a URL with tls:// encrypts");
    is_str(c->bus.prefix, "t_2", "bus.prefix");
    is_int(c->bus.replicas, 5, "bus.replicas");
    is_str(c->bus.creds_file, conf_kit_below("bus.creds"), "bus.credentials_file, beside the file");
    conf_unref(c);
    tap_spew(conf_kit_below("ca.pem"), "x\n", 2);
    tap_spew(conf_kit_below("cert.pem"), "x\n", 2);
    c = conf_kit_load("host : { name = \"h\"; }; bus : { url = [\"nats://10.0.0.5:4222\"];\n"
                      "credentials = \"ann:a:b\"; tls : { ca = \"ca.pem\"; }; };\n");
    ok(c->bus.is_encrypted, "so do certificates");
    is_str(c->bus.tls.ca, conf_kit_below("ca.pem"), "bus.tls.ca, beside the file");
    is_str(c->bus.credentials, "ann:a:b", "bus.credentials");
    conf_unref(c);
    tap_spew(conf_kit_below("token"), "t0-Ken-4711\n", 12);
    chmod(conf_kit_below("token"), 0600);
    c = conf_kit_load("host : { name = \"h\"; }; bus : { url = [\"nats://127.0.0.1:4222\"];\n"
                      "token = \"file:token\"; };\n");
    is_str(c->bus.token, "t0-Ken-4711", "bus.token, in a file");
    ok(is_redacted("t0-Ken-4711"), "it is a secret");
    conf_unref(c);
    tap_spew(conf_kit_below("key.pem"), "-----BEGIN EC PRIVATE KEY-----\nx\n", 32);
    chmod(conf_kit_below("key.pem"), 0600);
    c = conf_kit_load("host : { name = \"h\"; }; bus : { url = [\"nats://10.0.0.5:4222\"];\n"
                      "tls : { cert = \"cert.pem\"; key = \"key.pem\"; }; };\n");
    ok(c->bus.is_encrypted, "so does a certificate of the host");
    is_str(c->bus.tls.cert, conf_kit_below("cert.pem"), "bus.tls.cert, beside the file");
    is_str(c->bus.tls.key, conf_kit_below("key.pem"), "bus.tls.key");
    conf_unref(c);
    c = conf_kit_load(
        "host : { name = \"h\"; }; bus : { url = [\"nats://10.0.0.5:4222\"]; insecure = "
        "true; };\n");
    ok(!c->bus.is_encrypted && c->bus.insecure,
       "insecure allows another machine without encryption");
    conf_unref(c);
}

static void test_work(void)
{
    struct conf *c =
        conf_kit_load("host : { name = \"h1\"; }; bus : { url = [\"nats://127.0.0.1:1\"]; };\n"
                      "agents : { a = { command = [\"x\"]; }; };\n");
    ok(c->bus.is_gateway && c->bus.is_runner, "both roles by default");
    is_int(c->bus.lost_after_ms, 120000, "bus.lost_after_s by default");
    is_int(c->bus.move_after_ms, 60000, "bus.move_after_s by default");
    is_int(c->bus.on_loss, CONF_LOSS_FINISH, "bus.on_loss by default");
    ok(!c->sessions_shared, "sessions.shared by default");
    is_int(c->agents[0].runners.slots, 8, "agents.*.slots by default");
    ok(conf_agent_runs_here(c, &c->agents[0]) && !conf_agent_is_shared(c, &c->agents[0]),
       "an agent runs on its own host alone by default");
    conf_unref(c);
    c = conf_kit_load(
        "sessions : { shared = \"/srv/s\"; };\n"
        "host : { name = \"h1\"; };\nbus : { url = [\"nats://127.0.0.1:1\"]; roles = "
        "[\"gateway\"]; lost_after_s = 5; move_after_s = 3; on_loss = \"kill\"; };\n"
        "agents : { a = { command = [\"x\"]; hosts = [\"h2\", \"h1\"]; slots = 3; }; };\n");
    ok(c->bus.is_gateway && !c->bus.is_runner, "bus.roles");
    is_int(c->bus.lost_after_ms, 5000, "bus.lost_after_s");
    is_int(c->bus.move_after_ms, 3000, "bus.move_after_s");
    is_int(c->bus.on_loss, CONF_LOSS_KILL, "bus.on_loss");
    is_str(c->sessions_shared, "/srv/s", "sessions.shared");
    is_str(conf_kit_join(c->agents[0].runners.hosts), "h2|h1", "agents.*.hosts");
    is_int(c->agents[0].runners.slots, 3, "agents.*.slots");
    ok(!conf_agent_runs_here(c, &c->agents[0]) && conf_agent_is_shared(c, &c->agents[0]),
       "a host without the role runner runs no agent");
    conf_unref(c);
    c = conf_kit_load("host : { name = \"h1\"; };\nbus : { url = [\"nats://127.0.0.1:1\"]; };\n"
                      "agents : { a = { command = [\"x\"]; hosts = [\"h1\"]; }; };\n");
    ok(conf_agent_runs_here(c, &c->agents[0]) && !conf_agent_is_shared(c, &c->agents[0]),
       "an agent of this host alone is not shared");
    conf_unref(c);
}

int main(void)
{
    plan_lazy();
    test_bus();
    test_work();
    return 0;
}
