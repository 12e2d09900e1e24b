/* SPDX-License-Identifier: MIT
 * Arguments and environment of an agent: what is replaced, what is refused, what gets through. */
#include "core/agent/launch.h"

#include <stdint.h>
#include <string.h>

#include "base/bytes/buf.h"
#include "tap/tap.h"

/* Words as the config holds them; nobody writes to them. */
#define LIST(...) ((char **)(uintptr_t)(const char *[]){__VA_ARGS__, NULL})

static char *nothing[] = {NULL};
static struct conf_agent agent = {.name = (char[]){"test"}, .prefix = nothing};

static void join(struct buf *out, char *const *words)
{
    for (; words && *words; words++) {
        buf_add_str(out, *words);
        buf_add_char(out, '|');
    }
}

static void is_argv(const char *session, const char *conversation, const char *wanted,
                    const char *what)
{
    struct tc_err err = {0};
    CLEANUP_BUF struct buf got = {0};
    char **const argv = launch_build_argv(&agent, session, conversation, &err);
    join(&got, argv);
    is_str(argv ? got.p : err.text, wanted, "%s", what);
    launch_free(argv);
}

static void test_model(void)
{
    agent.command = LIST("agent", "--model={model}", "-m", "{model}", "-c", "m={model}", "end");
    agent.resume = nothing;
    is_argv(NULL, NULL, "agent|end|", "without a model no argument with its placeholder is left");
    agent.variant.model = (char[]){"big"};
    is_argv(NULL, NULL, "agent|--model=big|-m|big|-c|m=big|end|",
            "the model replaces its placeholder");
    agent.variant.model = NULL;
}

/* The path of the helper program is where it was built. */
static void test_transport(void)
{
    struct tc_err err = {0};
    CLEANUP_BUF struct buf got = {0};
    agent.command = LIST("agent", "-p");
    agent.prefix = LIST("box");
    agent.env_pass = agent.env_set = nothing;
    agent.transport = (struct conf_transport){
        .kind = CONF_TRANSPORT_REDIS,
        .redis = {.host = "::1", .port = 7000, .database = 3, .prefix = "p", .password = "secret"},
    };
    char **const argv = launch_build_argv(&agent, NULL, NULL, &err);
    join(&got, argv);
    launch_free(argv);
    ok(strncmp(got.p, "box|/", 5) == 0, "the helper program follows the prefix: %s", got.p);
    const char *const rest = strstr(got.p, "/turncast-remote|");
    is_str(rest ? rest : "",
           "/turncast-remote|redis|host=::1|port=7000|database=3|prefix=p|--|agent|-p|",
           "the helper program receives the transport and the command");
    char **const env = launch_build_env(&agent, nothing, NULL);
    buf_reset(&got);
    join(&got, env);
    launch_free(env);
    ok(strstr(got.p, "TURNCAST_REMOTE_SECRET=secret|"),
       "the environment has the password of the transport");
    agent.transport = (struct conf_transport){0};
    agent.prefix = nothing;
}

static void test_service(void)
{
    struct tc_err err = {0};
    CLEANUP_BUF struct buf got = {0};
    agent.command = agent.env_pass = agent.env_set = nothing;
    agent.transport = (struct conf_transport){
        .kind = CONF_TRANSPORT_SSE,
        .service = {.agent = "turncast",
                    .url = (char[]){"https://host/"},
                    .remote_agent = (char[]){"claude"},
                    .tls = {"/e/ca.pem", "/e/cert.pem", "/e/key.pem"},
                    .secret = "Authorization: Bearer secret\n",
                    .outage_ms = 500},
    };
    char **const argv = launch_build_argv(&agent, NULL, NULL, &err);
    join(&got, argv);
    launch_free(argv);
    const char *const rest = strstr(got.p, "/turncast-remote|");
    is_str(rest ? rest : "",
           "/turncast-remote|sse|agent=turncast|url=https://host/|outage_ms=500|"
           "remote_agent=claude|ca=/e/ca.pem|cert=/e/cert.pem|key=/e/key.pem|",
           "the arguments for an agent that is a service");
    char **const env = launch_build_env(&agent, nothing, NULL);
    buf_reset(&got);
    join(&got, env);
    launch_free(env);
    ok(strstr(got.p, "TURNCAST_REMOTE_SECRET=Authorization: Bearer secret\n|"),
       "the environment has the headers of the service");
    agent.transport = (struct conf_transport){0};
}

static void test_nats_token(void)
{
    struct tc_err err = {0};
    CLEANUP_BUF struct buf got = {0};
    const struct conf_nats nats = {.servers = {.urls = LIST("tls://a:1"),
                                               .token = "t0-Ken",
                                               .tls = {"/e/ca.pem", NULL, NULL},
                                               .is_encrypted = true},
                                   .subject = "x.runs"};
    agent.resume = nothing;
    agent.transport = (struct conf_transport){.kind = CONF_TRANSPORT_NATS, .nats = &nats};
    char **const argv = launch_build_argv(&agent, NULL, NULL, &err);
    join(&got, argv);
    launch_free(argv);
    const char *const rest = strstr(got.p, "/turncast-remote|");
    is_str(rest ? rest : "",
           "/turncast-remote|nats|url=tls://a:1|subject=x.runs|proof=token|ca=/e/ca.pem|tls=yes|",
           "the arguments for NATS with a token and encryption");
    char **const env = launch_build_env(&agent, nothing, NULL);
    buf_reset(&got);
    join(&got, env);
    launch_free(env);
    ok(strstr(got.p, "TURNCAST_REMOTE_SECRET=t0-Ken|"), "the environment has the token");
}

/* No command: what is asked for is at the subject. */
static void test_nats(void)
{
    struct tc_err err = {0};
    CLEANUP_BUF struct buf got = {0};
    const struct conf_nats nats = {
        .servers = {.urls = LIST("nats://a:1", "nats://b:2"), .credentials = "ann:secret"},
        .subject = "x.runs",
        .agent = "far"};
    agent.command = agent.prefix = agent.env_pass = agent.env_set = nothing;
    agent.resume = LIST("thread={session_id}");
    agent.transport = (struct conf_transport){.kind = CONF_TRANSPORT_NATS, .nats = &nats};
    char **argv = launch_build_argv(&agent, NULL, NULL, &err);
    join(&got, argv);
    launch_free(argv);
    const char *rest = strstr(got.p, "/turncast-remote|");
    is_str(rest ? rest : "",
           "/turncast-remote|nats|url=nats://a:1,nats://b:2|subject=x.runs|agent=far|",
           "the arguments for a first run through NATS");
    argv = launch_build_argv(&agent, "s-1", NULL, &err);
    buf_reset(&got);
    join(&got, argv);
    launch_free(argv);
    rest = strstr(got.p, "agent=far|");
    is_str(rest ? rest : "", "agent=far|thread=s-1|",
           "the arguments for a later run of the session");
    char **const env = launch_build_env(&agent, nothing, NULL);
    buf_reset(&got);
    join(&got, env);
    launch_free(env);
    ok(strstr(got.p, "TURNCAST_REMOTE_SECRET=ann:secret|"), "the environment has the password");
    test_nats_token();
    agent.transport = (struct conf_transport){0};
    agent.resume = nothing;
}

static void test_argv(void)
{
    agent.command = LIST("agent", "-c", "{conversation}", "x{session_id}");
    agent.resume = LIST("--resume", "{session_id}");
    is_argv(NULL, "chat 7", "agent|-c|chat 7|x{session_id}|",
            "the conversation replaces whole arguments only");
    is_argv("abc-1_2", "c", "agent|-c|c|x{session_id}|--resume|abc-1_2|",
            "the arguments to resume a session are added");
    is_argv(NULL, NULL,
            "command contains {conversation}, but the turn has none; use --conversation NAME",
            "a command with {conversation} needs a conversation");
    agent.prefix = LIST("box", "--for={conversation}", "--");
    is_argv(NULL, "c", "box|--for=c|--|agent|-c|c|x{session_id}|",
            "the prefix is placed in front, with its placeholder replaced");
    agent.prefix = nothing;
    agent.resume = LIST("--resume={session_id}", "--for={conversation}", "--json={\"a\":1}");
    is_argv("abc", "c", "agent|-c|c|x{session_id}|--resume=abc|--for=c|--json={\"a\":1}|",
            "placeholders after a = are replaced");
    agent.resume = LIST("--resume", "{session_id}");
    const char *const refused =
        "invalid conversation name: no control characters, no leading \"-\", at most 1024 bytes";
    is_argv(NULL, "--settings={}", refused, "a conversation name that looks like an option");
    is_argv(NULL, "", refused, "an empty name");
    is_argv(NULL, "a\nb", refused, "a conversation name with a newline");
    is_argv(NULL, "a\xff", refused, "a conversation name that is not UTF-8");
    const char *const no_id =
        "invalid session ID: use letters, digits, \"-\" and \"_\", at most 128 characters";
    is_argv("--help", "c", no_id, "a session id that looks like an option");
    is_argv("a b", "c", no_id, "a session id with a blank");
    is_argv("../x", "c", no_id, "a session id that is a path");
    is_argv("", "c", no_id, "an empty session id");
    char longest[130];
    memset(longest, 'a', sizeof longest);
    longest[128] = '\0';
    ok(launch_is_session_id(longest), "a session id of 128 characters is valid");
    longest[128] = 'a';
    longest[129] = '\0';
    ok(!launch_is_session_id(longest), "a session id of 129 characters is invalid");
}

static void test_fresh_session(void)
{
    agent.command = LIST("agent", "--session-id", "{session_id}");
    char **const a = launch_build_argv(&agent, NULL, NULL, NULL);
    char **const b = launch_build_argv(&agent, NULL, NULL, NULL);
    ok(a && b && strlen(a[2]) == 36 && launch_is_session_id(a[2]), "a new session is a UUID: %s",
       a ? a[2] : "");
    ok(a && b && strcmp(a[2], b[2]) != 0, "each new session has another UUID");
    ok(a && a[2][14] == '4' && strchr("89ab", a[2][19]), "the UUID has version 4");
    launch_free(a);
    launch_free(b);
    launch_free(NULL);
}

static void is_env(char *const *host, const char *wanted, const char *what)
{
    CLEANUP_BUF struct buf got = {0};
    char **const env = launch_build_env(&agent, host, NULL);
    join(&got, env);
    is_str(got.p, wanted, "%s", what);
    launch_free(env);
}

static void test_env(void)
{
    char **const none = LIST(NULL);
    agent.env_pass = agent.env_set = none;
    char **const host =
        LIST("PATH=/bin", "HOME=/h", "LANG=C", "LC_ALL=C.UTF-8", "LC_=x", "TZ=UTC", "USER=u",
             "LOGNAME=u", "SHELL=/bin/sh", "TMPDIR=/t", "TERM=xterm", "TURNCAST_CONFIG=x",
             "LD_PRELOAD=x", "LD_LIBRARY_PATH=x", "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli",
             "CLAUDE_CODE_OAUTH_TOKEN=t", "ANTHROPIC_LOG=debug", "ANTHROPIC_API_KEY=k",
             "NODE_OPTIONS=--inspect", "DEBUG=*", "SSH_AUTH_SOCK=x", "PATHS=x", "SLACK_BOT_TOKEN=x",
             "noequals");
    const char *const basic = "TERM=dumb|PATH=/bin|HOME=/h|LANG=C|LC_ALL=C.UTF-8|LC_=x|TZ=UTC|"
                              "USER=u|LOGNAME=u|SHELL=/bin/sh|TMPDIR=/t|";
    is_env(host, basic, "only the basic variables are passed");

    agent.env_pass = LIST("ANTHROPIC_API_KEY", "NOT_THERE", "TERM");
    is_env(LIST("ANTHROPIC_API_KEY=k", "ANTHROPIC_API_KEYS=x", "TERM=vt100"),
           "TERM=vt100|ANTHROPIC_API_KEY=k|", "a variable named in env_pass is passed");
    agent.env_pass = LIST("*", "CLAUDE_CODE_*", "CLAUDECODE", "LD_PRELOAD", "TURNCAST_CONFIG",
                          "DEBUG", "NODE_OPTIONS");
    CLEANUP_BUF struct buf got = {0};
    char **const env = launch_build_env(&agent, host, NULL);
    join(&got, env);
    ok(!strstr(got.p, "CLAUDE") && !strstr(got.p, "LD_") && !strstr(got.p, "TURNCAST") &&
           !strstr(got.p, "DEBUG") && !strstr(got.p, "NODE_OPTIONS"),
       "blocked variables are not passed, even if a pattern matches");
    ok(strstr(got.p, "SSH_AUTH_SOCK=x|"), "variables that match a pattern are passed");
    launch_free(env);

    agent.env_pass = LIST("CLAUDE_CODE_OAUTH_TOKEN");
    is_env(LIST("CLAUDE_CODE_OAUTH_TOKEN=t", "CLAUDE_CODE_SSE_PORT=1"),
           "TERM=dumb|CLAUDE_CODE_OAUTH_TOKEN=t|", "a credential named in env_pass is passed");
    struct conf_user somebody = {
        .name = (char[]){"bob"}, .home = (char[]){"/home/bob"}, .shell = (char[]){"/bin/rc"}};
    agent.env_pass = none;
    agent.user = &somebody;
    is_env(LIST("HOME=/root", "PATH=/bin", "SHELL=/bin/sh"),
           "TERM=dumb|HOME=/home/bob|PATH=/bin|SHELL=/bin/rc|USER=bob|LOGNAME=bob|",
           "the variables of another user");
    agent.user = NULL;
    agent.env_set = LIST("CLAUDE_CODE_MAX_RETRIES=1", "PATH=/opt", "DEBUG=", "PATH=/opt/bin");
    is_env(LIST("PATH=/bin", "HOME=/h"),
           "TERM=dumb|PATH=/opt/bin|HOME=/h|CLAUDE_CODE_MAX_RETRIES=1|DEBUG=|",
           "env_set replaces passed variables");
}

int main(void)
{
    plan_lazy();
    test_model();
    test_argv();
    test_transport();
    test_service();
    test_nats();
    test_fresh_session();
    test_env();
    return 0;
}
