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
            "\"1\" is not in the list.\nThis chat has no sessions yet.", "nothing to resume");
    talk_say("first words\nand more");
    talk_await_quiet();
    talk_say("/queue"); /* until it is on the disk */
    session_history_add(talk.history, "fake", "tg:A", "s-2", "the other\tone");
    struct said s = talk_say("!sessions");
    ok(strncmp(s.answer, "Sessions of the agent fake in this chat, the newest first:\n1. 20", 63) ==
           0,
       "the newest first");
    ok(strstr(s.answer, ": the other one\n2. 20"), "with its words");
    ok(strstr(s.answer, ": first words\nSend !resume N to continue one."),
       "the first line of them");
    ok(strstr(talk_as("tg", "1", "B", "/sessions").answer, "no sessions"),
       "another chat has its own");
    talk_is(talk_say("/resume 3"), TC_COMMAND, NULL, "behind the list");
    is_str(talk.disk.value, "s-1", "nothing is resumed");
    s = talk_say("/resume 1");
    ok(strncmp(s.answer, "Your next message continues session 1 of the list.\n1. 20", 55) == 0,
       "it is resumed: %s", s.answer);
    is_str(talk.disk.value, "s-2", "the next turn finds it");
    is_str(talk.disk.key, "session:fake:tg:A", "as its session");
    talk_say("go on");
    talk_await_quiet();
    ok(talk_dumped("\"mark=s-2\""), "the agent is given it");
    ok(strstr(talk_say("/resume s-1").answer, "continues session"), "by its id");
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
    ok(strstr(s.answer, "\n20. ") && !strstr(s.answer, "\n21. "), "the list is bounded");
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
    is_str(talk.disk.value, "s-9", "whose session is not kept instead");
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
    is_int(s.accepted, TC_ACCEPTED, "the last message again");
    is_str(s.turn, talk.disk.turns[1].id, "is another turn");
    is_str(talk.disk.turns[1].prompt, "do it", "with the same prompt");
    is_str(talk.disk.turns[1].route, "{\"r\":1}", "which is told where the command was sent");
    talk_await_quiet();
    talk_say("/new");
    is_int(talk_say("!retry").accepted, TC_ACCEPTED, "also in a new session");
    talk_await_quiet();
    is_str(talk.disk.turns[2].prompt, "do it", "the same again");
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
             "the button of an older error");
    retry_is(press_retry(first, "1"), TC_ACCEPTED, "", "the button of the last one");
    talk_await_quiet();
    is_str(talk.disk.turns[1].prompt, "do it", "its message again");
    is_str(talk.disk.turns[1].route, "{\"r\":2}", "which is told where the button is");
    talk_end("the button of an error");
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
    is_int(talk_say("/retry").accepted, TC_ACCEPTED, "with files");
    snprintf(prompt, sizeof prompt, "look\n\n[file: %s (a.txt)]\n[file: %s: not there any more]",
             there, gone);
    is_str(talk.disk.turns[1].prompt, prompt, "what is there still is given, the rest is named");
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
            "a turn");
    const struct usage_sum priced = {
        .turns = 1, .counted = 1, .input = 1000, .output = 20, .priced = 1, .micros = 1234567};
    usage_log_add(talk.usage, "tg", "tg:A", &priced);
    usage_log_add(talk.usage, "tg", "tg:B", &(struct usage_sum){.turns = 1});
    talk_is(talk_say("/usage"), TC_COMMAND,
            "Last turn: 1000 tokens in, 20 out, $1.2346.\n"
            "This chat, 2 turns: 1007 tokens in, 21 out, $1.2346. The cost covers 1 turn.\n"
            "Today in all chats, 3 turns: 1007 tokens in, 21 out, $1.2346. Reported for 2 turns. "
            "The cost covers 1 turn.",
            "turns with and without a cost");
    talk_is(talk_as("tg", "1", "B", "/usage"), TC_COMMAND, NULL, "another chat");
    usage_log_free(talk.usage);
    talk.usage = usage_log_new(&talk.disk);
    talk_renew();
    ok(strstr(talk_say("/usage").answer, "Today in all chats, 3 turns"),
       "a restart keeps the sums");
    talk_end("usage");
}

static void test_read_usage(void)
{
    const struct usage_sum a = usage_log_read_turn(
        STR("{\"input_tokens\":10,\"output_tokens\":5,\"cache_read_tokens\":100,"
            "\"cache_write_tokens\":7,\"cache_counted\":false,\"cost_usd\":0.25}"));
    is_int(a.input, 117, "cached tokens are part of the input");
    is_int(a.output, 5, "output");
    is_int(a.micros, 250000, "cost");
    const struct usage_sum b = usage_log_read_turn(
        STR("{\"input_tokens\":110,\"output_tokens\":5,\"cache_read_tokens\":100,"
            "\"cache_counted\":true}"));
    is_int(b.input, 110, "or were counted by the agent");
    is_int(b.priced, 0, "no cost was reported");
    const struct usage_sum c = usage_log_read_turn((struct str){NULL, 0});
    ok(c.turns == 1 && !c.counted, "nothing was reported");
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
