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
    is_str(s.turn, talk.disk.turns[0].id, "with the turn's id");
    is_str(talk.disk.turns[0].conv, "tg:A", "R27: a conversation is instance and chat");
    is_str(talk.disk.turns[0].route, "{\"r\":1}", "R24: the route is stored with the message");
    talk_await_states("ended", "the outcome goes to the disk");
    ok(!strstr(cast_log_text(&talk.log), "final"), "before anybody is told");
    is_int(talk.disk.turns[0].targets, 1, "with a row for who has to be told");
    is_str(talk.disk.turns[0].seen, "tg\nlog", "and it is known who saw that it runs");
    fake_ledger_release(&talk.disk);
    talk_await_quiet();
    is_str(cast_log_text(&talk.log),
           "start(hello) step n(hi) message step final(hi) usage(7) done(completed)", "then");
    ok(talk.disk.turns[0].pid > 0, "the agent was noted");
    is_str(talk.disk.value, "s-1", "R27: the session is kept");
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
        is_str(s.turn, talk.disk.turns[0].id, "R18: one turn");
    }
    s.answered = false;
    s.in = (struct tc_inbound){.chat = "A", .user = "1", .text = "/new", .id = "c1"};
    inbound_handle(talk.reception, &s.ask);
    talk_spin(talk_is_answered, &s);
    is_int(s.accepted, TC_COMMAND, "R18: a command");
    inbound_handle(talk.reception, &s.ask);
    is_int(s.accepted, TC_KNOWN, "R18: is done once");
    talk_await_quiet();
    talk_await_states("ended", "one turn came of it");
    talk_end("a message that arrives twice is one turn");
}

/* Of several messages that become one turn, each may name somebody. */
static void test_named(void)
{
    talk_begin(NULL);
    talk_is(talk_name("sl", "one"), TC_ACCEPTED, "", "a message that names an instance");
    is_str(talk.disk.turns[0].instances, "sl", "it is on disk");
    talk_await_working(1);
    talk_await_log("for(sl)", "its turn is for that instance");
    talk_is(talk_name("tg", "two"), TC_QUEUED, NULL, "another one");
    talk_is(talk_name("sl", "three"), TC_QUEUED, NULL, "a third one");
    talk_finish(0);
    talk_await_log("for(tg\nsl)", "one turn for those that two messages name");
    talk_await_working(2);
    talk_finish(1);
    talk_await_quiet();
    talk_say("four");
    talk_await_working(3);
    talk_finish(3);
    talk_await_quiet();
    ok(!strstr(strstr(cast_log_text(&talk.log), "for(tg\nsl)") + 1, "for("),
       "the next turn, of a message that names nobody, is for nobody");
    talk_end("named instances");
}

static void test_named_wrong(void)
{
    talk_begin(NULL);
    char other[] = "other", *others[] = {other, NULL};
    talk.instances[1].scope.agents = others;
    talk_is(talk_name("slack", "x"), TC_INVALID, "", "an unknown instance");
    talk_is(talk_name("slack", "/status"), TC_INVALID, "", "with a command, too");
    talk_is(talk_name("slack", "/show-tools"), TC_INVALID, "", "and with a token");
    ok(strstr(talk_say("/stream-status").answer, "Hidden: tools"), "which does not count");
    talk_is(talk_name("sl", "x"), TC_INVALID, "", "an instance that does not show such turns");
    is_int(talk.disk.n, 0, "nothing of it is on disk");
    talk_end("named instances that are refused");
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
    is_int(deliver("e1", "ts1", "stop").accepted, TC_COMMAND, "R18: stop");
    is_int(deliver("e2", "ts1", "stop").accepted, TC_KNOWN,
           "R18: under another event id it is the same stop, and does not kill");
    is_int(deliver("e1", NULL, "stop").accepted, TC_KNOWN,
           "R18: so it is under its first id alone");
    talk_await_quiet();
    is_int(deliver("e3", "ts3", "/show-tools").accepted, TC_COMMAND, "R18: a token");
    is_int(deliver("e3", "ts3", "/show-tools").accepted, TC_KNOWN, "R18: is answered once");
    is_int(deliver("e4", "ts3", "/show-tools").accepted, TC_KNOWN,
           "R18: whatever the event's id is");
    is_int(deliver("e5", "ts5", "/hide-tools").accepted, TC_COMMAND, "R18: another message is not");
    is_int(deliver("e6", "ts3", "/show-tools").accepted, TC_KNOWN, "R18: the first comes late");
    ok(strstr(talk_say("/stream-status").answer, "Hidden: tools"),
       "R18: and changes nothing that was said since");
    is_int(deliver(NULL, NULL, "/status").accepted, TC_COMMAND, "a command without any id");
    is_int(deliver(NULL, NULL, "/status").accepted, TC_COMMAND, "is never taken for another one");
    talk_end("commands that come twice");
}

/* Another host gets what this one has answered, and could not acknowledge any more. */
static void test_known_later(void)
{
    talk_begin(NULL);
    is_int(deliver("e1", "ts1", "/new").accepted, TC_COMMAND,
           "A3: a command that is delivered twice is carried out once");
    is_int(deliver("e2", NULL, "!hide-tools").accepted, TC_COMMAND, "A3: a word");
    for (int i = 0; i < 500; i++) {
        char id[20];
        snprintf(id, sizeof id, "q%d", i);
        deliver(id, NULL, "/queue");
    }
    talk_renew();
    is_int(deliver("e9", "ts1", "/new").accepted, TC_KNOWN,
           "A3: a command is known after a restart");
    is_int(deliver("e2", NULL, "!hide-tools").accepted, TC_KNOWN, "A3: so is the word");
    is_int(deliver("q499", NULL, "/queue").accepted, TC_KNOWN, "A3: so are many others");
    is_int(deliver("ts1", "e2", "/queue").accepted, TC_COMMAND,
           "A3: an id of one kind is none of the other");
    talk_end("what another host has answered");
}

static void test_known_words(void)
{
    talk_begin((const char *const[]){SAY_RESULT, NULL});
    is_int(deliver("e1", "ts1", "/show-tools go").accepted, TC_ACCEPTED, "a token and words");
    talk_await_quiet();
    is_int(deliver("e2", "ts2", "/hide-tools").accepted, TC_COMMAND, "then it is hidden again");
    is_int(deliver("e3", "ts1", "/show-tools go").accepted, TC_KNOWN,
           "R18: the words are no second turn");
    ok(strstr(talk_say("/stream-status").answer, "Hidden: tools"),
       "R18: and the token does not count twice");
    talk_await_states("ended", "R18: one turn came of it");
    talk_end("words that come twice");
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
           "with what this is");
    talk.agent->cwd = (char[]){"/srv/work"};
    ok(strstr(talk_say("!start").answer, " It works in the directory /srv/work.\n"),
       "and the folder of the agent");
    talk.agent->cwd = NULL;
    s = talk_say("/help@my_bot");
    ok(strstr(s.answer, "\n- /queue clear: "), "/help in a group has the commands");
    s = talk_say("!help");
    is_int(s.accepted, TC_COMMAND, "!help too");
    ok(strstr(s.answer, "\n- !stop: ") && !strstr(s.answer, "/stop"), "as they are written there");
    is_int(talk.disk.n, 0, "and no agent is started");
    talk_say("work");
    talk_await_working(1);
    talk_say("more");
    ok(strstr(talk_say("!queue").answer, "\nSend !queue clear to drop them."),
       "!queue names a command that can be written there");
    ok(strstr(talk_say("/queue").answer, "\nSend /queue clear to drop them."),
       "and so does /queue");
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
    is_str(c.turn, a.turn, "R26: as one turn");
    is_str(fake_ledger_states(&talk.disk), "waiting waiting waiting",
           "R26: each on disk by itself");
    talk_await_states("running merged merged", "R26: it is one");
    talk_await_working(1);
    talk_finish(0);
    talk_await_quiet();
    ok(strstr(cast_log_text(&talk.log), "start(one\n\ntwo\n\nthree) "), "R26: in order");
    talk_end("a burst");
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
            "R26: and another");
    is_str(third.turn, talk.disk.turns[1].id, "R26: of one turn");
    talk_is(talk_say("/queue"), TC_COMMAND,
            "2 messages in the queue:\n1. second\n2. third\nSend /queue clear to drop them.",
            "/queue");
    talk_is(talk_say("stop it, please"), TC_QUEUED, NULL, "R19: a sentence is no command");
    talk_is(talk_say("too much"), TC_FULL,
            "The queue is full (limit: 3 messages), so your message was not accepted. Send !queue "
            "to list "
            "the queued messages or !queue clear to drop them.",
            "R26: a message above the limit is refused");
    is_str(fake_ledger_states(&talk.disk), "running waiting waiting waiting", "R26: and not kept");
    talk_finish(0);
    talk_await_states("ended running merged merged", "R26: waiting messages run as one turn");
    talk_await_working(2);
    talk_is(talk_say("/queue"), TC_COMMAND, "The queue is empty.", "R26: the queue is empty");
    talk_finish(1);
    talk_await_quiet();
    ok(strstr(cast_log_text(&talk.log), "start(second\n\nthird\n\nstop it, please)"),
       "R26: in order");
    talk_end("a queue");
}

static void test_queue_behind_answer(void)
{
    talk_begin((const char *const[]){SAY_INIT, "print_on=10", SAY_HI, SAY_RESULT, "sleep", NULL});
    talk.agent->grace.exit_ms = 20000;
    talk_say("first");
    talk_await_states("ended", "the answer is there, and the agent not gone yet");
    talk_is(talk_say("second"), TC_ACCEPTED, NULL, "nobody is told to wait for that");
    talk_is(talk_say("third"), TC_QUEUED, "Queued behind the running turn (2 messages waiting).",
            "but for another message");
    talk_await_working(1);
    talk_finish(0);
    talk_await_states("ended ended merged", "both are answered");
    talk_await_working(2);
    talk_finish(1);
    talk_await_quiet();
    talk_end("a message behind an answer");
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
        ok(strstr(cast_log_text(&talk.log), "done(cancelled)"), "R19: \"%s\" ends it",
           spellings[i]);
        is_int(talk.disk.n, 1, "R19: /stop is not passed to the agent");
        talk_end(spellings[i]);
    }
    talk_begin(NULL);
    talk_is(talk_say("/stop"), TC_COMMAND, "Nothing is running.", "R19: with nothing to stop");
    talk_say("work");
    talk_await_working(1);
    talk_say("more");
    talk_say("and more");
    talk_is(talk_say("/stop"), TC_COMMAND, "Stopping the running turn. Dropped 2 queued messages.",
            "R19: waiting messages do not start after a stop");
    talk_await_quiet();
    is_str(fake_ledger_states(&talk.disk), "ended cancelled cancelled", "R19: also on disk");
    talk_is(talk_as("sl", "1", "A", "/stop"), TC_COMMAND,
            "Turns cannot be stopped from this chat: the connector instance lacks the grant "
            "\"cancel\".",
            "R21: stop needs its grant");
    talk_end("stop");
    talk_begin(NULL);
    talk.conf.conversations.debounce_ms = 5000;
    talk_say("wait");
    talk_is(talk_say("stop"), TC_COMMAND, "Dropped 1 queued message.", "R19: before it began");
    is_str(fake_ledger_states(&talk.disk), "cancelled", "R19: it never does");
    talk_end("an early stop");
}

static struct said cancel_as(const char *instance, const char *user, const char *turn)
{
    struct said s = {
        .ask = {.kind = HOST_CALL_CANCEL, .instance = instance, .turn = turn, .user = user}};
    inbound_handle(talk.reception, &s.ask);
    return s;
}

static void test_cancel(void)
{
    talk_begin(NULL);
    talk_say("work");
    talk_await_working(1);
    const char *const id = talk.disk.turns[0].id;
    ok(talk.disk.turns[0].start > 0, "an agent that lives is noted with the time it began");
    talk_is(cancel_as("tg", "3", id), TC_DENIED, "",
            "R21: the stop button has no effect for a user who is not listed");
    talk_is(cancel_as("sl", "1", id), TC_DENIED, "", "R21: another instance's, without the grant");
    talk_is(cancel_as("tg", "1", "nonsense"), TC_KNOWN, "", "a turn that is not there");
    is_int(turn_scheduler_count_running(talk.all), 1, "it still runs");
    talk_is(cancel_as("tg", "2", id), TC_COMMAND, "Stopping the running turn.",
            "R19: the stop button");
    talk_await_quiet();
    ok(strstr(cast_log_text(&talk.log), "done(cancelled)"), "R19: ends it");
    talk_is(cancel_as("tg", "1", id), TC_KNOWN, "",
            "R19: a stop after the end of the turn is reported as late");
    talk_end("cancel");
}

static void test_session(void)
{
    talk_begin((const char *const[]){SAY_INIT, SAY_HI, SAY_RESULT, NULL});
    talk_say("one");
    talk_await_quiet();
    ok(!talk_dumped("mark=s-1"), "R27: the first turn has no session");
    is_str(talk.disk.key, "session:fake:tg:A", "R27: it is of the conversation");
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
       "what was allowed for the session is asked again");
    ok(approvals_match(talk.approvals, "fake", "tg:A", "t", "Bash", "id"),
       "what is for good stays");
    is_str(talk.disk.value, "", "R27: forgets it");
    talk_say("three");
    talk_await_quiet();
    ok(!talk_dumped("mark=s-1"), "R27: for the next turn");
    talk_end("sessions");

    talk_begin(NULL);
    talk_say("work");
    talk_await_working(1);
    talk_is(talk_say("/new"), TC_COMMAND,
            "Your next message starts a new session. The running turn finishes in the old one.",
            "R27: /new while a turn runs");
    talk_finish(0);
    talk_await_quiet();
    is_str(talk.disk.value, "", "R27: the running turn does not bring the old one back");
    talk_end("a new session");
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
    ok(!talk_dumped("mark=old"), "R27: without it");
    is_str(talk.disk.value, "s-1", "R27: the new one is kept");
    talk_end("a lost session");
}

static struct said may(const char *user, const char *chat)
{
    struct said s = {.ask = {.kind = HOST_CALL_MAY, .instance = "tg", .user = user, .chat = chat}};
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
    resend_is(resend("3", "A"), TC_DENIED, "a stranger cannot have an answer sent again");
    resend_is(resend("1", "B"), TC_DENIED, "nor anybody in a chat that is not listed");
    is_str(talk.disk.resent, "", "nothing is looked for");
    resend_is(resend("1", "A"), TC_KNOWN, "there is none");
    is_str(talk.disk.resent, "tg t9 A", "of that turn for that chat");
    talk.disk.letters = 2;
    resend_is(resend("1", "A"), TC_COMMAND, "there are two");
    is_str(cast_log_text(&talk.log), "tg(500) tg(501)", "both go out");
    log_setup(LOG_TEXT, LOG_WARN, 2);
    talk_end("answers sent again");
}

static void test_people(void)
{
    talk_begin((const char *const[]){SAY_RESULT, NULL});
    log_setup(LOG_TEXT, LOG_ERR, 2);
    talk_is(talk_as("tg", "3", "A", "hi"), TC_DENIED, "",
            "R21: a message of a user who is not listed is ignored");
    talk_is(talk_as("tg", "3", "A", "/stop"), TC_DENIED, "", "R21: not even a command");
    talk_is(talk_as("tg", "3", "A", "/show-tools"), TC_DENIED, "", "R21: nor a switch");
    talk_is(talk_as("none", "1", "A", "hi"), TC_DENIED, "", "R21: of no instance");
    talk.instances[0].allow_chats = chats;
    talk_is(talk_as("tg", "1", "B", "hi"), TC_DENIED, "", "R21: in a chat that is not listed");
    talk_is(may("1", "B"), TC_DENIED, "", "R21: that can be asked beforehand");
    talk_is(may("3", "A"), TC_DENIED, "", "R21: of a stranger too");
    talk_is(may("1", "A"), TC_ACCEPTED, "", "R21: and of who is listed");
    is_int(talk.disk.n, 0, "R21: nothing of it comes near the disk");
    talk_is(talk_as("tg", "1", "A", "hi"), TC_ACCEPTED, "", "R21: in one that is");
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
       "R27: two conversations side by side");
    talk_is(talk_as("tg", "1", "C", "c"), TC_QUEUED,
            "Queued until another turn ends (1 message waiting).",
            "R26: the third of one person waits");
    talk_is(talk_as("tg", "2", "D", "d"), TC_ACCEPTED, "", "R26: another person's does not");
    talk_await_working(3);
    talk_is(talk_as("sl", "2", "E", "e"), TC_QUEUED, NULL, "R26: nor more than the host may");
    is_str(fake_ledger_states(&talk.disk), "running running waiting running waiting", "as said");
    talk_finish(0);
    talk_await_states("ended running running running waiting",
                      "R26: whoever waited longest is next");
    talk_await_working(4);
    talk_finish(1);
    talk_await_states("ended ended running running running", "R26: and so on");
    talk_await_working(5);
    for (size_t i = 2; i < 5; i++)
        talk_finish(i);
    talk_await_quiet();
    talk_end("side by side");
}

static void test_thread(void)
{
    talk_begin((const char *const[]){SAY_RESULT, NULL});
    struct said s = {.in = {.chat = "A", .thread = "7", .user = "1", .text = "x", .id = "e1"}};
    s.ask = (struct host_call){.kind = HOST_CALL_SUBMIT, .instance = "tg", .inbound = &s.in};
    inbound_handle(talk.reception, &s.ask);
    talk_spin(talk_is_answered, &s);
    is_str(talk.disk.turns[0].conv, "tg:A:7", "R27: a thread is a conversation of its own");
    talk_await_quiet();
    talk_end("a thread");
}

static void test_disk(void)
{
    talk_begin((const char *const[]){SAY_RESULT, NULL});
    talk.disk.admits = JOURNAL_DISK_FULL;
    talk_is(talk_say("x"), TC_FULL,
            "The server's disk is full, so your message was not accepted. Please try again later.",
            "R18: no room on the disk");
    talk.disk.admits = JOURNAL_FAILED;
    talk_is(talk_say("x"), TC_NOT_KEPT, "", "R18: not on disk, not acknowledged");
    talk.disk.admits = JOURNAL_TOO_BIG;
    talk_is(talk_say("x"), TC_FULL, "This message is too long (limit: 1 MiB). Please shorten it.",
            "one that is too long");
    is_int(talk.disk.n, 0, "nothing runs of it");
    talk.disk.admits = JOURNAL_DONE;
    talk.disk.ends = JOURNAL_DISK_FULL;
    log_setup(LOG_TEXT, (enum log_level)0, 2);
    talk_say("x");
    talk_await_quiet();
    log_setup(LOG_TEXT, LOG_WARN, 2);
    ok(strstr(cast_log_text(&talk.log), "final(hi) done(completed)") ||
           strstr(cast_log_text(&talk.log), "final(hi) usage(7) done(completed)"),
       "an outcome that cannot be kept is told all the same");
    talk_end("a full disk");
}

static void test_status(void)
{
    talk_begin(NULL);
    talk_is(talk_say("/status"), TC_COMMAND,
            "Nothing is running.\nNo session yet; the next message starts one.\nShown: answers, "
            "narration. Hidden: tools, thinking.",
            "/status of nothing");
    talk_say("work");
    talk_await_working(1);
    talk_say("more");
    const struct said s = talk_say("/status");
    ok(strncmp(s.answer, "Running for ", 12) == 0 && strstr(s.answer, "\n1 message queued.\n") &&
           strstr(s.answer, "\nSession: s-1.\n"),
       "/status of a turn");
    talk_is(talk_say("/queue clear"), TC_COMMAND, "Dropped 1 queued message.", "/queue clear");
    talk_is(talk_say("/show-tools"), TC_COMMAND,
            "Shown: answers, narration, tools. Hidden: thinking.", "a token is a command");
    talk_is(talk_say("/stream-status@bot"), TC_COMMAND,
            "Shown: answers, narration, tools. Hidden: thinking.", "and sticky");
    talk_is(talk_say("go on /hide-tools now"), TC_QUEUED, NULL, "a token in a message");
    is_str(talk.disk.turns[2].prompt, "go on now", "is taken out");
    talk_is(talk_say("/compact"), TC_QUEUED, NULL, "an unknown command");
    is_str(talk.disk.turns[3].prompt, "/compact", "is for the agent");
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
