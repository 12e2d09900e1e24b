/* SPDX-License-Identifier: MIT
 * For tests of conversations: a host whose agent is real, and whose disk and instances are played;
 * and a person who writes to it. */
#ifndef TESTS_CORE_TALK_H
#define TESTS_CORE_TALK_H

#include "core/cast_log.h"
#include "core/conversation/turn_scheduler.h"
#include "core/fake_ledger.h"
#include "core/inbound/inbound.h"
#include "core/inbound/pairing.h"

extern struct talk {
    struct loop *loop;
    struct journal_async disk;
    struct dispatch log;
    struct turn_scheduler *all;
    struct settings_worker *settings;
    struct visibility_cache *switches;
    struct session_store *sessions;
    struct bindings *bindings;
    struct pairing *pairing;
    struct session_history *history;
    struct usage_log *usage;
    struct request_registry *requests;
    struct approvals *approvals;
    struct inbound *reception;
    struct conf conf;
    struct conf_agent *agent;          /* after talk_begin it may be changed */
    struct conf_store store;           /* of the configuration; set before talk_begin */
    struct conf_instance instances[2]; /* tg, which may submit and cancel; sl, which may submit */
} talk;

/* What came of one thing that the person said. */
struct said {
    struct host_call ask; /* first */
    struct tc_inbound in;
    char id[20];
    bool answered;
    enum tc_accepted accepted;
    char turn[40], answer[600];
};

/* Once. */
void talk_init(void);
/* The fake agent with these words (the list ends with NULL); NULL: it says hi, and works until
 * talk_finish. Users 1 and 2 may write. */
void talk_begin(const char *const *others);
/* The host's part for messages begins again with what is on the disk. */
void talk_renew(void);
/* Nothing may be left. */
void talk_end(const char *what);
/* The same, once nothing runs and nothing waits. */
void talk_end_quiet(const char *what);
struct said talk_as(const char *instance, const char *user, const char *chat, const char *text);
/* User 1 in chat A of tg, whose message names that instance. */
struct said talk_name(const char *named, const char *text);
/* User 1 in chat A of tg. */
struct said talk_say(const char *text);
/* That user presses the button that stops the turn. */
struct said talk_cancel(const char *instance, const char *user, const char *turn);
void talk_is(struct said s, enum tc_accepted accepted, const char *answer, const char *what);
bool talk_is_answered(const void *said);
/* Runs the loop until it is so, or a deadline has passed. */
void talk_spin(bool (*there)(const void *arg), const void *arg);
/* Whether the log of what was told has that in it; until it has. */
bool talk_is_logged(const void *text);
void talk_await_log(const char *text, const char *what);
void talk_await_states(const char *states, const char *what);
/* Nothing runs, nothing waits. */
void talk_await_quiet(void);
/* So many turns have begun to speak. */
void talk_await_working(unsigned n);
/* The i-th turn gets its answer. */
void talk_finish(size_t i);
/* The agent that began last was given this word. */
bool talk_dumped(const char *piece);

#endif
