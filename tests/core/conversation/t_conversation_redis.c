/* SPDX-License-Identifier: MIT
 * Conversations while Redis comes and goes: no turn notices, and what a person changes is told
 * truly. */
#include <string.h>

#include "base/sys/log.h"
#include "core/talk.h"
#include "fake/redis.h"
#include "tap/tap.h"

#define KEY "agenticore:stream_config:fake"
#define SESSION_OF "agenticore:session:conv:fake:-:tg:"
#define SESSION SESSION_OF "A"
#define WHOLE "step n(hi) message step final(stopped politely) usage(0) done(completed)"

static bool has_session(const void *id)
{
    return strcmp(redis_cli("hget " SESSION " claude_session_id"), id) == 0;
}

static bool shows_thinking(const void *value)
{
    return strcmp(redis_cli("hget " KEY " show_thinking"), value) == 0;
}

/* Killed in the middle of a turn, and back in the middle of the next one. */
static void test_turns(void)
{
    talk_begin(NULL);
    talk_say("one");
    talk_await_working(1);
    redis_kill();
    talk_finish(0);
    talk_await_quiet();
    is_str(cast_log_text(&talk.log), "start(one) " WHOLE, "a turn during which Redis is killed");
    const struct said s = talk_say("two");
    talk_is(s, TC_ACCEPTED, "", "a message is accepted without Redis");
    talk_await_working(2);
    ok(talk_dumped("mark=s-1"), "the next turn resumes the session without Redis");
    redis_start(NULL, NULL);
    talk_finish(1);
    talk_await_quiet();
    is_str(cast_log_text(&talk.log), "start(one) " WHOLE " start(two) " WHOLE,
           "a turn during which Redis is started");
    talk_spin(has_session, "s-1");
    is_str(redis_cli("hget " SESSION " claude_session_id"), "s-1",
           "Redis has the session afterwards");
    talk_end("Redis is killed during a turn");
}

static bool has_both_sessions(const void *arg)
{
    (void)arg;
    return strcmp(redis_cli("hget " SESSION_OF "C claude_session_id"), "s-1") == 0 &&
           strcmp(redis_cli("hget " SESSION_OF "D claude_session_id"), "s-1") == 0;
}

/* Two conversations of one agent end while Redis is away. */
static void test_two_unsaved(void)
{
    talk_begin(NULL);
    talk_as("tg", "1", "C", "one");
    talk_as("tg", "1", "D", "two");
    talk_await_working(2);
    redis_kill();
    talk_finish(0);
    talk_finish(1);
    talk_await_quiet();
    redis_start(NULL, NULL);
    talk_spin(has_both_sessions, NULL);
    is_str(redis_cli("hget " SESSION_OF "C claude_session_id"), "s-1",
           "the session of a conversation that ended while Redis was away is written later");
    is_str(redis_cli("hget " SESSION_OF "D claude_session_id"), "s-1",
           "the session of another conversation is written later, too");
    talk_end("two sessions end without Redis");
}

static void test_words(void)
{
    talk_begin(NULL);
    talk_is(talk_say("/show-thinking"), TC_COMMAND,
            "Shown: answers, narration, thinking. "
            "Hidden: tools.",
            "a visibility token changes the visibility");
    is_str(redis_cli("hget " KEY " show_thinking"), "1", "the change is in Redis");
    redis_cli("hset " KEY " show_tools 1");
    talk_is(talk_say("/stream-status"), TC_COMMAND, "Shown: answers, narration, tools, thinking.",
            "a change by another program is shown");
    redis_kill();
    talk_is(talk_say("/hide-thinking"), TC_COMMAND,
            "Shown: answers, narration, tools. Hidden: thinking. Redis is unavailable; this "
            "setting is stored locally and will be synchronised later.",
            "a change without Redis is accepted with a notice");
    talk_is(talk_say("/stream-status"), TC_COMMAND,
            "Shown: answers, narration, tools. Hidden: thinking.",
            "the change is shown without Redis");
    redis_start(NULL, NULL);
    talk_spin(shows_thinking, "0");
    is_str(redis_cli("hget " KEY " show_thinking"), "0", "the change is in Redis after its start");
    redis_cli("del " KEY);
    redis_cli("set " KEY " text");
    talk_is(
        talk_say("/show-all"), TC_COMMAND,
        "Visibility of agent \"fake\" not changed: Redis key agenticore:stream_config:fake has an "
        "unexpected format. Your message was not sent to the agent.",
        "a Redis key of an unexpected format is not changed");
    talk_is(
        talk_say("/show-all and think"), TC_COMMAND,
        "Visibility of agent \"fake\" not changed: Redis key agenticore:stream_config:fake has an "
        "unexpected format. Your message was not sent to the agent.",
        "a message with a token is refused for the same reason");
    is_str(redis_cli("get " KEY), "text", "the Redis key is not overwritten");
    talk_is(talk_say("/stream-status"), TC_COMMAND,
            "Shown: answers, narration. Hidden: tools, thinking.",
            "the configured visibility applies");
    redis_cli("del " KEY);
    talk_end("words");
}

int main(void)
{
    plan_lazy();
    log_setup(LOG_TEXT, LOG_ERR, 2);
    if (!redis_is_installed()) {
        skip(1, "redis-cli is not installed");
        return 0;
    }
    talk_init();
    talk.store = (struct conf_store){
        .kind = CONF_REDIS, .path = redis_socket(), .prefix = "agenticore", .session_ttl_s = 1000};
    redis_start(NULL, NULL);
    test_turns();
    test_two_unsaved();
    test_words();
    redis_kill();
    return 0;
}
