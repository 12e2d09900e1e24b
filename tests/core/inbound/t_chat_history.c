/* SPDX-License-Identifier: MIT
 * The commands that look back: /sessions, /resume, /retry, /usage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "core/stage.h"
#include "core/talk.h"
#include "tap/tap.h"

static void begin(void)
{
    talk_begin((const char *const[]){SAY_INIT, SAY_HI, SAY_RESULT, NULL});
}

static void test_sessions(void)
{
    begin();
    talk_is(talk_say("/sessions"), TC_COMMAND, "This chat has no sessions yet.", "before a turn");
    talk_is(talk_say("/resume 1"), TC_COMMAND,
            "\"1\" is not in the list.\nThis chat has no sessions yet.",
            "/resume without sessions");
    talk_say("first words\nand more");
    talk_await_quiet();
    talk_say("/queue"); /* until it is on the disk */
    session_history_add(talk.history, "fake", "tg:A", "s-2", "the other\tone");
    struct said s = talk_say("!sessions");
    ok(strncmp(s.answer, "Sessions of the agent fake in this chat, the newest first:\n1. 20", 63) ==
           0,
       "/sessions lists the newest session first");
    ok(strstr(s.answer, ": the other one\n2. 20"),
       "the list has the first message of each session");
    ok(strstr(s.answer, ": first words\nSend !resume N to continue one."),
       "the list has the first line of the message only");
    ok(strstr(talk_as("tg", "1", "B", "/sessions").answer, "no sessions"),
       "another chat has its own sessions");
    talk_is(talk_say("/resume 3"), TC_COMMAND, NULL, "/resume of a number that is not in the list");
    is_str(talk.disk.value, "s-1", "the session is unchanged");
    s = talk_say("/resume 1");
    ok(strncmp(s.answer, "Your next message continues session 1 of the list.\n1. 20", 55) == 0,
       "/resume selects a session: %s", s.answer);
    is_str(talk.disk.value, "s-2", "the next turn has the selected session");
    is_str(talk.disk.key, "session:fake:tg:A", "the session is stored for the conversation");
    talk_say("go on");
    talk_await_quiet();
    ok(talk_dumped("\"mark=s-2\""), "the agent resumes the selected session");
    ok(strstr(talk_say("/resume s-1").answer, "continues session"),
       "/resume selects a session by its id");
    talk_end("sessions");
}

static void test_many_sessions(void)
{
    begin();
    for (int i = 0; i < 25; i++) {
        char id[20];
        snprintf(id, sizeof id, "s-%d", i);
        session_history_add(talk.history, "fake", "tg:A", id, "x");
        talk_say("/queue"); /* until it is on the disk */
    }
    const struct said s = talk_say("/sessions");
    ok(strstr(s.answer, "\n20. ") && !strstr(s.answer, "\n21. "),
       "the list has at most 20 sessions");
    talk_end("many sessions");
}

static void test_resume_running(void)
{
    talk_begin(NULL);
    talk_say("work");
    talk_await_working(1);
    session_history_add(talk.history, "fake", "tg:A", "s-9", "old");
    ok(strstr(talk_say("/resume 1").answer, " The running turn finishes in its own session."),
       "while a turn runs");
    talk_finish(0);
    talk_await_quiet();
    is_str(talk.disk.value, "s-9", "the running turn does not replace the selected session");
    talk_end("resume while a turn runs");
}

static void test_retry(void)
{
    begin();
    talk_is(talk_say("/retry"), TC_COMMAND, "No earlier message to send again.", "before a turn");
    talk_say("do it");
    talk_await_quiet();
    talk_renew();
    const struct said s = talk_say("/retry");
    is_int(s.accepted, TC_ACCEPTED, "/retry is accepted");
    is_str(s.turn, talk.disk.turns[1].id, "/retry creates another turn");
    is_str(talk.disk.turns[1].prompt, "do it", "the new turn has the prompt of the last message");
    is_str(talk.disk.turns[1].route, "{\"r\":1}", "the new turn has the route of the command");
    talk_await_quiet();
    talk_say("/new");
    is_int(talk_say("!retry").accepted, TC_ACCEPTED, "/retry in a new session is accepted");
    talk_await_quiet();
    is_str(talk.disk.turns[2].prompt, "do it", "the turn in the new session has the same prompt");
    talk_end("retry");
}

static struct said press_retry(const char *turn, const char *user)
{
    struct said s = {.in = {.size = sizeof s.in,
                            .id = "retry:x",
                            .chat = "A",
                            .user = user,
                            .text = "retry",
                            .route = "{\"r\":2}"},
                     .ask = {.kind = HOST_CALL_RETRY, .instance = "tg", .turn = turn}};
    s.ask.inbound = &s.in;
    return s;
}

static void retry_is(struct said s, enum tc_accepted accepted, const char *answer, const char *what)
{
    s.ask.inbound = &s.in;
    inbound_handle(talk.reception, &s.ask);
    talk_spin(talk_is_answered, &s);
    talk_is(s, accepted, answer, what);
}

static void test_retry_button(void)
{
    char first[64];
    begin();
    talk_say("do it");
    talk_await_quiet();
    snprintf(first, sizeof first, "%s", talk.disk.turns[0].id);
    talk_renew();
    retry_is(press_retry("t-other", "1"), TC_COMMAND,
             "This is not the last message of the conversation any more. Please send it again.",
             "the retry button of an older error has no effect");
    retry_is(press_retry(first, "1"), TC_ACCEPTED, "",
             "the retry button of the last error is accepted");
    talk_await_quiet();
    is_str(talk.disk.turns[1].prompt, "do it", "the new turn has the prompt of the last message");
    is_str(talk.disk.turns[1].route, "{\"r\":2}", "the new turn has the route of the button");
    talk_end("the retry button of an error");
}

static void test_retry_running(void)
{
    talk_begin(NULL);
    talk_say("work");
    talk_await_working(1);
    talk_is(talk_say("/retry"), TC_COMMAND,
            "A turn is running or waiting. Send the message again after its end.",
            "while a turn runs");
    talk_finish(0);
    talk_await_quiet();
    talk_end("retry while a turn runs");
}

static void test_retry_files(void)
{
    char there[600], gone[700], prompt[2000];
    snprintf(there, sizeof there, "%s/a.txt", tap_tmpdir());
    snprintf(gone, sizeof gone, "%s/b.txt", tap_tmpdir());
    tap_spew(there, "a", 1);
    tap_spew(gone, "b", 1);
    begin();
    const char *const files[] = {there, gone}, *const names[] = {"a.txt", NULL};
    struct said s = {.in = {.size = sizeof s.in,
                            .chat = "A",
                            .user = "1",
                            .text = "look",
                            .id = "f1",
                            .files = files,
                            .file_names = names,
                            .file_count = 2}};
    s.ask = (struct host_call){.kind = HOST_CALL_SUBMIT, .instance = "tg", .inbound = &s.in};
    inbound_handle(talk.reception, &s.ask);
    talk_spin(talk_is_answered, &s);
    talk_await_quiet();
    unlink(gone);
    is_int(talk_say("/retry").accepted, TC_ACCEPTED, "/retry of a message with files is accepted");
    snprintf(prompt, sizeof prompt, "look\n\n[file: %s (a.txt)]\n[file: %s: not there any more]",
             there, gone);
    is_str(talk.disk.turns[1].prompt, prompt,
           "existing files are in the prompt, missing files are marked");
    talk_await_quiet();
    talk_end("files of a message");
}

static void test_usage(void)
{
    begin();
    talk_is(talk_say("/usage"), TC_COMMAND, "No turn of this chat has ended yet.", "before a turn");
    talk_say("one");
    talk_await_quiet();
    talk_is(talk_say("/usage"), TC_COMMAND,
            "Last turn: 7 tokens in, 1 out.\nThis chat, 1 turn: 7 tokens in, 1 out.\n"
            "Today in all chats, 1 turn: 7 tokens in, 1 out.",
            "/usage after one turn");
    const struct usage_sum priced = {
        .turns = 1, .counted = 1, .input = 1000, .output = 20, .priced = 1, .micros = 1234567};
    usage_log_add(talk.usage, "tg", "tg:A", &priced);
    usage_log_add(talk.usage, "tg", "tg:B", &(struct usage_sum){.turns = 1});
    talk_is(talk_say("/usage"), TC_COMMAND,
            "Last turn: 1000 tokens in, 20 out, $1.2346.\n"
            "This chat, 2 turns: 1007 tokens in, 21 out, $1.2346. The cost covers 1 turn.\n"
            "Today in all chats, 3 turns: 1007 tokens in, 21 out, $1.2346. Reported for 2 turns. "
            "The cost covers 1 turn.",
            "/usage after turns with and without a cost");
    talk_is(talk_as("tg", "1", "B", "/usage"), TC_COMMAND, NULL, "/usage in another chat");
    usage_log_free(talk.usage);
    talk.usage = usage_log_new(&talk.disk);
    talk_renew();
    ok(strstr(talk_say("/usage").answer, "Today in all chats, 3 turns"),
       "the sums survive a restart");
    talk_end("usage");
}

static void test_read_usage(void)
{
    const struct usage_sum a = usage_log_read_turn(
        STR("{\"input_tokens\":10,\"output_tokens\":5,\"cache_read_tokens\":100,"
            "\"cache_write_tokens\":7,\"cache_counted\":false,\"cost_usd\":0.25}"));
    is_int(a.input, 117, "cached tokens are added to the input");
    is_int(a.output, 5, "output");
    is_int(a.micros, 250000, "cost");
    const struct usage_sum b = usage_log_read_turn(
        STR("{\"input_tokens\":110,\"output_tokens\":5,\"cache_read_tokens\":100,"
            "\"cache_counted\":true}"));
    is_int(b.input, 110, "cached tokens that the agent has counted are not added");
    is_int(b.priced, 0, "usage without a cost");
    const struct usage_sum c = usage_log_read_turn((struct str){NULL, 0});
    ok(c.turns == 1 && !c.counted, "a turn without usage");
}

int main(void)
{
    plan_lazy();
    talk_init();
    test_sessions();
    test_many_sessions();
    test_resume_running();
    test_retry();
    test_retry_button();
    test_retry_running();
    test_retry_files();
    test_usage();
    test_read_usage();
    return 0;
}
