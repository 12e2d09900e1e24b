/* SPDX-License-Identifier: MIT
 * From a person's message to its turn and back: queue, commands, limits, sessions, people. */
#include <stdio.h>
#include <string.h>

#include "base/sys/log.h"
#include "core/request/approvals.h"
#include "core/stage.h"
#include "core/talk.h"
#include "tap/tap.h"

static char *chats[] = {(char[]){"A"}, NULL};

static void test_one(void)
{
    talk_begin((const char *const[]){SAY_INIT, SAY_HI, SAY_RESULT, NULL});
    talk.disk.holds = true;
    struct said s = talk_say("hello");
    talk_is(s, TC_ACCEPTED, "", "R18: a message is on disk before it is accepted");
    is_str(s.turn, talk.disk.turns[0].id, "the result has the turn's id");
    is_str(talk.disk.turns[0].conv, "tg:A", "R27: a conversation is instance and chat");
    is_str(talk.disk.turns[0].route, "{\"r\":1}", "R24: the route is stored with the message");
    talk_await_states("ended", "the outcome is written to disk");
    ok(!strstr(cast_log_text(&talk.log), "final"), "the outcome is not cast before it is on disk");
    is_int(talk.disk.turns[0].targets, 1, "the ledger has the recipient of the outcome");
    is_str(talk.disk.turns[0].seen, "tg\nlog", "the ledger has the instances that saw the start");
    fake_ledger_release(&talk.disk);
    talk_await_quiet();
    is_str(cast_log_text(&talk.log),
           "start(hello) step n(hi) message step final(hi) usage(7) done(completed)",
           "the events follow");
    ok(talk.disk.turns[0].pid > 0, "the ledger has the agent's process id");
    is_str(talk.disk.value, "s-1", "R27: the session is stored");
    talk_end("one message");
}

static void test_known(void)
{
    talk_begin((const char *const[]){SAY_RESULT, NULL});
    struct said s = {.in = {.chat = "A", .user = "1", .text = "x", .id = "e1", .also = "ts1"}};
    s.ask = (struct host_call){.kind = HOST_CALL_SUBMIT, .instance = "tg", .inbound = &s.in};
    for (int i = 0; i < 3; i++) {
        s.answered = false;
        s.in.id = i == 2 ? "e2" : "e1";
        inbound_handle(talk.reception, &s.ask);
        talk_spin(talk_is_answered, &s);
        is_int(s.accepted, i ? TC_KNOWN : TC_ACCEPTED, "R18: time %d, %s", i + 1, s.in.id);
        is_str(s.turn, talk.disk.turns[0].id, "R18: repeated messages belong to one turn");
    }
    s.answered = false;
    s.in = (struct tc_inbound){.chat = "A", .user = "1", .text = "/new", .id = "c1"};
    inbound_handle(talk.reception, &s.ask);
    talk_spin(talk_is_answered, &s);
    is_int(s.accepted, TC_COMMAND, "R18: a command is carried out");
    inbound_handle(talk.reception, &s.ask);
    is_int(s.accepted, TC_KNOWN, "R18: a repeated command is not carried out again");
    talk_await_quiet();
    talk_await_states("ended", "repeated messages make one turn");
    talk_end("a message that arrives twice is one turn");
}

/* Of several messages that become one turn, each may name somebody. */
static void test_named(void)
{
    talk_begin(NULL);
    talk_is(talk_name("sl", "one"), TC_ACCEPTED, "", "a message names an instance");
    is_str(talk.disk.turns[0].instances, "sl", "the ledger has the named instance");
    talk_await_working(1);
    talk_await_log("for(sl)", "the turn is cast to the named instance");
    talk_is(talk_name("tg", "two"), TC_QUEUED, NULL, "a second message names another instance");
    talk_is(talk_name("sl", "three"), TC_QUEUED, NULL, "a third message names the first instance");
    talk_finish(0);
    talk_await_log("for(tg\nsl)", "a turn of two messages is cast to the instances that both name");
    talk_await_working(2);
    talk_finish(1);
    talk_await_quiet();
    talk_say("four");
    talk_await_working(3);
    talk_finish(3);
    talk_await_quiet();
    ok(!strstr(strstr(cast_log_text(&talk.log), "for(tg\nsl)") + 1, "for("),
       "a turn of a message without a named instance is cast to no additional instance");
    talk_end("messages that name instances");
}

static void test_named_wrong(void)
{
    talk_begin(NULL);
    char other[] = "other", *others[] = {other, NULL};
    talk.instances[1].scope.agents = others;
    talk_is(talk_name("slack", "x"), TC_INVALID, "", "a message to an unknown instance is refused");
    talk_is(talk_name("slack", "/status"), TC_INVALID, "",
            "a command to an unknown instance is refused");
    talk_is(talk_name("slack", "/show-tools"), TC_INVALID, "",
            "a token for an unknown instance is refused");
    ok(strstr(talk_say("/stream-status").answer, "Hidden: tools"), "which does not count");
    talk_is(talk_name("sl", "x"), TC_INVALID, "", "an instance outside of its scope is refused");
    is_int(talk.disk.n, 0, "no refused message is on disk");
    talk_end("messages that name invalid instances");
}

/* A message of user 1 that the service delivers under this id, and under one that stays. */
static struct said deliver(const char *id, const char *also, const char *text)
{
    struct said s = {
        .in = {.size = sizeof s.in, .chat = "A", .user = "1", .text = text, .id = id, .also = also},
        .ask = {.kind = HOST_CALL_SUBMIT, .instance = "tg", .inbound = &s.in}};
    inbound_handle(talk.reception, &s.ask);
    talk_spin(talk_is_answered, &s);
    return s;
}

static void test_known_commands(void)
{
    talk_begin(NULL);
    talk_say("work");
    talk_await_working(1);
    is_int(deliver("e1", "ts1", "stop").accepted, TC_COMMAND, "R18: stop is carried out");
    is_int(deliver("e2", "ts1", "stop").accepted, TC_KNOWN,
           "R18: the same stop under another event id has no effect");
    is_int(deliver("e1", NULL, "stop").accepted, TC_KNOWN,
           "R18: the same stop under its first id has no effect");
    talk_await_quiet();
    is_int(deliver("e3", "ts3", "/show-tools").accepted, TC_COMMAND, "R18: a token is applied");
    is_int(deliver("e3", "ts3", "/show-tools").accepted, TC_KNOWN,
           "R18: the repeated token is ignored");
    is_int(deliver("e4", "ts3", "/show-tools").accepted, TC_KNOWN,
           "R18: the token under another event id is ignored");
    is_int(deliver("e5", "ts5", "/hide-tools").accepted, TC_COMMAND,
           "R18: another token is applied");
    is_int(deliver("e6", "ts3", "/show-tools").accepted, TC_KNOWN,
           "R18: a late repetition is ignored");
    ok(strstr(talk_say("/stream-status").answer, "Hidden: tools"),
       "R18: the newer token stays in effect");
    is_int(deliver(NULL, NULL, "/status").accepted, TC_COMMAND,
           "a command without an id is carried out");
    is_int(deliver(NULL, NULL, "/status").accepted, TC_COMMAND,
           "a second command without an id, too");
    talk_end("repeated commands");
}

/* Another host gets what this one has answered, and could not acknowledge any more. */
static void test_known_later(void)
{
    talk_begin(NULL);
    is_int(deliver("e1", "ts1", "/new").accepted, TC_COMMAND, "A3: a command is carried out");
    is_int(deliver("e2", NULL, "!hide-tools").accepted, TC_COMMAND, "A3: a token is applied");
    for (int i = 0; i < 500; i++) {
        char id[20];
        snprintf(id, sizeof id, "q%d", i);
        deliver(id, NULL, "/queue");
    }
    talk_renew();
    is_int(deliver("e9", "ts1", "/new").accepted, TC_KNOWN,
           "A3: the command is known to a new host");
    is_int(deliver("e2", NULL, "!hide-tools").accepted, TC_KNOWN, "A3: the token is known, too");
    is_int(deliver("q499", NULL, "/queue").accepted, TC_KNOWN, "A3: one of 500 others is known");
    is_int(deliver("ts1", "e2", "/queue").accepted, TC_COMMAND, "A3: kinds of ids differ");
    talk_end("commands after a restart");
}

static void test_known_words(void)
{
    talk_begin((const char *const[]){SAY_RESULT, NULL});
    is_int(deliver("e1", "ts1", "/show-tools go").accepted, TC_ACCEPTED, "a message with a token");
    talk_await_quiet();
    is_int(deliver("e2", "ts2", "/hide-tools").accepted, TC_COMMAND, "another token hides tools");
    is_int(deliver("e3", "ts1", "/show-tools go").accepted, TC_KNOWN,
           "R18: the repeated message is ignored");
    ok(strstr(talk_say("/stream-status").answer, "Hidden: tools"),
       "R18: its token is ignored, too");
    talk_await_states("ended", "R18: there is one turn");
    talk_end("a repeated message with a token");
}

static void test_help(void)
{
    talk_begin(NULL);
    struct said s = talk_say("/start");
    is_int(s.accepted, TC_COMMAND, "B5: the host answers /start");
    is_str(s.answer,
           "Messages in this chat go to the agent fake, and it answers here.\nWhile it works, the "
           "Stop button ends the turn. When it needs a permission or has a question, the buttons "
           "under that message answer it.\nSend /help for the list of commands.",
           "/start explains the chat");
    talk.agent->cwd = (char[]){"/srv/work"};
    ok(strstr(talk_say("!start").answer, " It works in the directory /srv/work.\n"),
       "/start has the agent's directory");
    talk.agent->cwd = NULL;
    s = talk_say("/help@my_bot");
    ok(strstr(s.answer, "\n- /queue clear: "), "the answer to /help in a group has the commands");
    s = talk_say("!help");
    is_int(s.accepted, TC_COMMAND, "the host answers !help");
    ok(strstr(s.answer, "\n- !stop: ") && !strstr(s.answer, "/stop"),
       "!help lists commands with !");
    is_int(talk.disk.n, 0, "no agent is started");
    talk_say("work");
    talk_await_working(1);
    talk_say("more");
    ok(strstr(talk_say("!queue").answer, "\nSend !queue clear to drop them."),
       "!queue names a command with !");
    ok(strstr(talk_say("/queue").answer, "\nSend /queue clear to drop them."),
       "/queue names a command with /");
    talk_say("stop");
    talk_await_quiet();
    talk_end("help");
}

static void test_burst(void)
{
    talk_begin(NULL);
    talk.conf.conversations.debounce_ms = 200;
    const struct said a = talk_say("one"), b = talk_say("two"), c = talk_say("three");
    ok(a.accepted == TC_ACCEPTED && b.accepted == TC_ACCEPTED && c.accepted == TC_ACCEPTED,
       "R26: a burst of messages is accepted");
    is_str(c.turn, a.turn, "R26: a burst of messages becomes one turn");
    is_str(fake_ledger_states(&talk.disk), "waiting waiting waiting",
           "R26: each message is on disk");
    talk_await_states("running merged merged", "R26: the messages of the burst are merged");
    talk_await_working(1);
    talk_finish(0);
    talk_await_quiet();
    ok(strstr(cast_log_text(&talk.log), "start(one\n\ntwo\n\nthree) "),
       "R26: messages are in order");
    talk_end("a burst of messages");
}

static void test_queue(void)
{
    talk_begin(NULL);
    talk_say("first");
    talk_await_working(1);
    talk_is(talk_say("second"), TC_QUEUED, "Queued behind the running turn (1 message waiting).",
            "R26: a message waits while a turn runs");
    const struct said third = talk_say("third");
    talk_is(third, TC_QUEUED, "Queued behind the running turn (2 messages waiting).",
            "R26: a second message waits");
    is_str(third.turn, talk.disk.turns[1].id, "R26: both waiting messages belong to one turn");
    talk_is(talk_say("/queue"), TC_COMMAND,
            "2 messages in the queue:\n1. second\n2. third\nSend /queue clear to drop them.",
            "/queue");
    talk_is(talk_say("stop it, please"), TC_QUEUED, NULL, "R19: a sentence is not a command");
    talk_is(talk_say("too much"), TC_FULL,
            "The queue is full (limit: 3 messages), so your message was not accepted. Send !queue "
            "to list "
            "the queued messages or !queue clear to drop them.",
            "R26: a message above the limit is refused");
    is_str(fake_ledger_states(&talk.disk), "running waiting waiting waiting",
           "R26: the refused message is not on disk");
    talk_finish(0);
    talk_await_states("ended running merged merged", "R26: waiting messages run as one turn");
    talk_await_working(2);
    talk_is(talk_say("/queue"), TC_COMMAND, "The queue is empty.", "R26: the queue is empty");
    talk_finish(1);
    talk_await_quiet();
    ok(strstr(cast_log_text(&talk.log), "start(second\n\nthird\n\nstop it, please)"),
       "R26: messages are in order");
    talk_end("messages in the queue");
}

static void test_queue_behind_answer(void)
{
    talk_begin((const char *const[]){SAY_INIT, "print_on=10", SAY_HI, SAY_RESULT, "sleep", NULL});
    talk.agent->grace.exit_ms = 20000;
    talk_say("first");
    talk_await_states("ended", "the outcome is on disk while the agent still runs");
    talk_is(talk_say("second"), TC_ACCEPTED, NULL, "a message after the answer is accepted");
    talk_is(talk_say("third"), TC_QUEUED, "Queued behind the running turn (2 messages waiting).",
            "the next message is reported as queued");
    talk_await_working(1);
    talk_finish(0);
    talk_await_states("ended ended merged", "both messages are answered as one turn");
    talk_await_working(2);
    talk_finish(1);
    talk_await_quiet();
    talk_end("messages after an answer");
}

static void test_stop(void)
{
    static const char *const spellings[] = {"/stop",  "stop",         "!stop",
                                            " /stop", "/stop@my_bot", "Stop"};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        talk_begin(NULL);
        talk_say("work");
        talk_await_working(1);
        talk_is(talk_say(spellings[i]), TC_COMMAND, "Stopping the running turn.",
                "R19: /stop acts at once, outside of the queue");
        talk_await_quiet();
        ok(strstr(cast_log_text(&talk.log), "done(cancelled)"), "R19: \"%s\" ends the turn",
           spellings[i]);
        is_int(talk.disk.n, 1, "R19: /stop is not passed to the agent");
        talk_end(spellings[i]);
    }
    talk_begin(NULL);
    talk_is(talk_say("/stop"), TC_COMMAND, "Nothing is running.", "R19: /stop without a turn");
    talk_say("work");
    talk_await_working(1);
    talk_say("more");
    talk_say("and more");
    talk_is(talk_say("/stop"), TC_COMMAND, "Stopping the running turn. Dropped 2 queued messages.",
            "R19: waiting messages do not start after a stop");
    talk_await_quiet();
    is_str(fake_ledger_states(&talk.disk), "ended cancelled cancelled",
           "R19: they are cancelled on disk");
    talk_is(talk_as("sl", "1", "A", "/stop"), TC_COMMAND,
            "Turns cannot be stopped from this chat: the connector instance lacks the grant "
            "\"cancel\".",
            "R21: /stop needs the grant cancel");
    talk_end("stop");
    talk_begin(NULL);
    talk.conf.conversations.debounce_ms = 5000;
    talk_say("wait");
    talk_is(talk_say("stop"), TC_COMMAND, "Dropped 1 queued message.",
            "R19: /stop drops the message");
    is_str(fake_ledger_states(&talk.disk), "cancelled",
           "R19: the dropped message is cancelled on disk");
    talk_end("a stop before the turn began");
}

static void test_cancel(void)
{
    talk_begin(NULL);
    talk_say("work");
    talk_await_working(1);
    const char *const id = talk.disk.turns[0].id;
    ok(talk.disk.turns[0].start > 0, "the ledger has the start time of the agent's process");
    talk_is(talk_cancel("tg", "3", id), TC_DENIED, "", "R21: an unlisted user may not stop a turn");
    talk_is(talk_cancel("sl", "1", id), TC_DENIED, "",
            "R21: an instance without the grant may not stop a turn");
    talk_is(talk_cancel("tg", "1", "nonsense"), TC_KNOWN, "", "the stop button of an unknown turn");
    is_int(turn_scheduler_count_running(talk.all), 1, "the turn still runs");
    talk_is(talk_cancel("tg", "2", id), TC_COMMAND, "Stopping the running turn.",
            "R19: the stop button");
    talk_await_quiet();
    ok(strstr(cast_log_text(&talk.log), "done(cancelled)"), "R19: the stop button ends the turn");
    talk_is(talk_cancel("tg", "1", id), TC_KNOWN, "", "R19: a stop after the end is late");
    talk_end("cancel");
}

static void test_session(void)
{
    talk_begin((const char *const[]){SAY_INIT, SAY_HI, SAY_RESULT, NULL});
    talk_say("one");
    talk_await_quiet();
    ok(!talk_dumped("mark=s-1"), "R27: the first turn resumes no session");
    is_str(talk.disk.key, "session:fake:tg:A", "R27: the session belongs to the conversation");
    talk_say("two");
    talk_await_quiet();
    ok(talk_dumped("mark=s-1"), "R27: the next turn resumes the session");
    talk_as("tg", "1", "B", "elsewhere");
    talk_await_quiet();
    ok(!talk_dumped("mark=s-1"), "R27: another conversation does not resume the session");
    snprintf(talk.disk.key, sizeof talk.disk.key, "session:fake:tg:A");
    approvals_remember(talk.approvals, APPROVALS_SESSION, "fake", "tg:A", "t", "Bash", "ls", "Ann");
    approvals_remember(talk.approvals, APPROVALS_ALWAYS, "fake", "tg:A", "t", "Bash", "id", "Ann");
    talk_is(talk_say("/new"), TC_COMMAND, "Your next message starts a new session.", "R27: /new");
    ok(!approvals_match(talk.approvals, "fake", "tg:A", "t", "Bash", "ls"),
       "approvals of the session are deleted");
    ok(approvals_match(talk.approvals, "fake", "tg:A", "t", "Bash", "id"),
       "permanent approvals are kept");
    is_str(talk.disk.value, "", "R27: /new deletes the stored session");
    talk_say("three");
    talk_await_quiet();
    ok(!talk_dumped("mark=s-1"), "R27: the next turn resumes no session");
    talk_end("sessions");

    talk_begin(NULL);
    talk_say("work");
    talk_await_working(1);
    talk_is(talk_say("/new"), TC_COMMAND,
            "Your next message starts a new session. The running turn finishes in the old one.",
            "R27: /new while a turn runs");
    talk_finish(0);
    talk_await_quiet();
    is_str(talk.disk.value, "", "R27: the session of the running turn is not stored");
    talk_end("/new during a turn");
}

static void test_lost_session(void)
{
    char count[540];
    snprintf(count, sizeof count, "count=%s/runs", tap_tmpdir());
    talk_begin((const char *const[]){count, "on=1",
                                     "errtext=No conversation found with session ID: old", "exit=1",
                                     "on=2", SAY_INIT, SAY_RESULT, NULL});
    snprintf(talk.disk.key, sizeof talk.disk.key, "session:fake:tg:A");
    snprintf(talk.disk.value, sizeof talk.disk.value, "old");
    talk_say("go on");
    talk_await_quiet();
    ok(strstr(cast_log_text(&talk.log), "notice(retry)") &&
           strstr(cast_log_text(&talk.log), "final(hi)"),
       "R27: a session that the agent has lost is replaced by a new one once, with a notice");
    ok(!talk_dumped("mark=old"), "R27: the new attempt does not resume the session");
    is_str(talk.disk.value, "s-1", "R27: the new session is stored");
    talk_end("a session that the agent has lost");
}

static struct said may(const char *user, const char *chat)
{
    struct said s = {
        .ask = {.kind = HOST_CALL_CHECK_PERMISSION, .instance = "tg", .user = user, .chat = chat}};
    inbound_handle(talk.reception, &s.ask);
    return s;
}

static struct said resend(const char *user, const char *chat)
{
    struct said s = {.ask = {.kind = HOST_CALL_RESEND, .turn = "t9", .user = user, .chat = chat}};
    s.ask.instance = "tg";
    return s;
}

static void resend_is(struct said s, enum tc_accepted accepted, const char *what)
{
    inbound_handle(talk.reception, &s.ask);
    talk_spin(talk_is_answered, &s);
    talk_is(s, accepted, "", what);
}

static void test_resend(void)
{
    talk_begin((const char *const[]){SAY_RESULT, NULL});
    log_setup(LOG_TEXT, LOG_ERR, 2);
    talk.instances[0].allow_chats = chats;
    resend_is(resend("3", "A"), TC_DENIED, "a user who is not listed cannot resend an answer");
    resend_is(resend("1", "B"), TC_DENIED, "a chat that is not listed cannot resend");
    is_str(talk.disk.resent, "", "the ledger is not asked for refused requests");
    resend_is(resend("1", "A"), TC_KNOWN, "a resend without a stored answer");
    is_str(talk.disk.resent, "tg t9 A", "the ledger is asked for the turn and the chat");
    talk.disk.letters = 2;
    resend_is(resend("1", "A"), TC_COMMAND, "a resend of two stored answers");
    is_str(cast_log_text(&talk.log), "tg(500) tg(501)", "both stored answers are sent");
    log_setup(LOG_TEXT, LOG_WARN, 2);
    talk_end("resending answers");
}

static void test_people(void)
{
    talk_begin((const char *const[]){SAY_RESULT, NULL});
    log_setup(LOG_TEXT, LOG_ERR, 2);
    talk_is(talk_as("tg", "3", "A", "hi"), TC_DENIED, "", "R21: an unlisted user is ignored");
    talk_is(talk_as("tg", "3", "A", "/stop"), TC_DENIED, "", "R21: a command is ignored");
    talk_is(talk_as("tg", "3", "A", "/show-tools"), TC_DENIED, "", "R21: a token is ignored");
    talk_is(talk_as("none", "1", "A", "hi"), TC_DENIED, "", "R21: an unknown instance");
    talk.instances[0].allow_chats = chats;
    talk_is(talk_as("tg", "1", "B", "hi"), TC_DENIED, "", "R21: an unlisted chat is ignored");
    talk_is(may("1", "B"), TC_DENIED, "", "R21: the permission check refuses an unlisted chat");
    talk_is(may("3", "A"), TC_DENIED, "", "R21: the permission check refuses an unlisted user");
    talk_is(may("1", "A"), TC_ACCEPTED, "", "R21: a listed user in a listed chat may");
    is_int(talk.disk.n, 0, "R21: no ignored message is on disk");
    talk_is(talk_as("tg", "1", "A", "hi"), TC_ACCEPTED, "", "R21: a listed chat is accepted");
    talk_await_quiet();
    log_setup(LOG_TEXT, LOG_WARN, 2);
    talk_end("people");
}

static void test_parallel(void)
{
    talk_begin(NULL);
    talk.conf.conversations.per_user = 2;
    talk.conf.conversations.max_turns = 3;
    talk_say("a");
    talk_as("tg", "1", "B", "b");
    talk_await_working(2);
    const char *const told = cast_log_text(&talk.log);
    ok(strstr(told, "start(a) ") && strstr(told, "start(b) ") && !strstr(told, "done("),
       "R27: two conversations run at the same time");
    talk_is(talk_as("tg", "1", "C", "c"), TC_QUEUED,
            "Queued until another turn ends (1 message waiting).",
            "R26: the third turn of one user waits");
    talk_is(talk_as("tg", "2", "D", "d"), TC_ACCEPTED, "", "R26: another user's turn runs");
    talk_await_working(3);
    talk_is(talk_as("sl", "2", "E", "e"), TC_QUEUED, NULL,
            "R26: a turn above the limit of the host waits");
    is_str(fake_ledger_states(&talk.disk), "running running waiting running waiting",
           "the states of the turns on disk");
    talk_finish(0);
    talk_await_states("ended running running running waiting", "R26: the oldest turn runs");
    talk_await_working(4);
    talk_finish(1);
    talk_await_states("ended ended running running running", "R26: the other turn runs next");
    talk_await_working(5);
    for (size_t i = 2; i < 5; i++)
        talk_finish(i);
    talk_await_quiet();
    talk_end("several turns at the same time");
}

static void test_thread(void)
{
    talk_begin((const char *const[]){SAY_RESULT, NULL});
    struct said s = {.in = {.chat = "A", .thread = "7", .user = "1", .text = "x", .id = "e1"}};
    s.ask = (struct host_call){.kind = HOST_CALL_SUBMIT, .instance = "tg", .inbound = &s.in};
    inbound_handle(talk.reception, &s.ask);
    talk_spin(talk_is_answered, &s);
    is_str(talk.disk.turns[0].conv, "tg:A:7", "R27: a thread is a separate conversation");
    talk_await_quiet();
    talk_end("a message in a thread");
}

static void test_disk(void)
{
    talk_begin((const char *const[]){SAY_RESULT, NULL});
    talk.disk.admits = JOURNAL_DISK_FULL;
    talk_is(talk_say("x"), TC_FULL,
            "The server's disk is full, so your message was not accepted. Please try again later.",
            "R18: a message is refused when the disk is full");
    talk.disk.admits = JOURNAL_FAILED;
    talk_is(talk_say("x"), TC_NOT_KEPT, "", "R18: not on disk, not acknowledged");
    talk.disk.admits = JOURNAL_TOO_BIG;
    talk_is(talk_say("x"), TC_FULL, "This message is too long (limit: 1 MiB). Please shorten it.",
            "a message that is too long is refused");
    is_int(talk.disk.n, 0, "refused messages make no turn");
    talk.disk.admits = JOURNAL_DONE;
    talk.disk.ends = JOURNAL_DISK_FULL;
    log_setup(LOG_TEXT, (enum log_level)0, 2);
    talk_say("x");
    talk_await_quiet();
    log_setup(LOG_TEXT, LOG_WARN, 2);
    ok(strstr(cast_log_text(&talk.log), "final(hi) done(completed)") ||
           strstr(cast_log_text(&talk.log), "final(hi) usage(7) done(completed)"),
       "an outcome that cannot be written to disk is cast");
    talk_end("a full disk");
}

static void test_status(void)
{
    talk_begin(NULL);
    talk_is(talk_say("/status"), TC_COMMAND,
            "Nothing is running.\nNo session yet; the next message starts one.\nShown: answers, "
            "narration. Hidden: tools, thinking.",
            "/status without a turn");
    talk_say("work");
    talk_await_working(1);
    talk_say("more");
    const struct said s = talk_say("/status");
    ok(strncmp(s.answer, "Running for ", 12) == 0 && strstr(s.answer, "\n1 message queued.\n") &&
           strstr(s.answer, "\nSession: s-1.\n"),
       "/status during a turn");
    talk_is(talk_say("/queue clear"), TC_COMMAND, "Dropped 1 queued message.", "/queue clear");
    talk_is(talk_say("/show-tools"), TC_COMMAND,
            "Shown: answers, narration, tools. Hidden: thinking.", "a token is a command");
    talk_is(talk_say("/stream-status@bot"), TC_COMMAND,
            "Shown: answers, narration, tools. Hidden: thinking.",
            "the visibility is kept for later turns");
    talk_is(talk_say("go on /hide-tools now"), TC_QUEUED, NULL, "a token in a message");
    is_str(talk.disk.turns[2].prompt, "go on now", "the token is removed from the message");
    talk_is(talk_say("/compact"), TC_QUEUED, NULL, "a message with an unknown command is queued");
    is_str(talk.disk.turns[3].prompt, "/compact", "the unknown command is passed to the agent");
    talk_say("/stop");
    talk_await_quiet();
    talk_end("commands");
}

int main(void)
{
    plan_lazy();
    talk_init();
    test_one();
    test_known();
    test_named();
    test_named_wrong();
    test_known_commands();
    test_known_words();
    test_known_later();
    test_help();
    test_burst();
    test_queue();
    test_queue_behind_answer();
    test_stop();
    test_cancel();
    test_session();
    test_lost_session();
    test_people();
    test_resend();
    test_parallel();
    test_thread();
    test_disk();
    test_status();
    stage_fini();
    return 0;
}
