/* SPDX-License-Identifier: MIT
 * Pairing of strangers: who gets a code, when, what it is good for, and what is limited. */
#include "core/inbound/pairing.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/sys/clock.h"
#include "core/stage.h"
#include "core/talk.h"
#include "tap/tap.h"

#define HOUR_MS ((int64_t)3600 * 1000)

static void begin(void)
{
    talk_begin((const char *const[]){SAY_INIT, SAY_HI, SAY_RESULT, NULL});
    talk.instances[0].chat.pairing = true;
}

/* A stranger writes; `direct` chat or a group. */
static struct said write_as(const char *user, const char *chat, bool direct)
{
    static unsigned n;
    char id[20];
    snprintf(id, sizeof id, "p%u", ++n);
    struct said s = {.in = {.size = sizeof s.in,
                            .chat = chat,
                            .user = user,
                            .name = "Ann\nX",
                            .text = "hello",
                            .id = id,
                            .direct = direct}};
    s.ask = (struct host_call){.kind = HOST_CALL_SUBMIT, .instance = "tg", .inbound = &s.in};
    inbound_handle(talk.reception, &s.ask);
    talk_spin(talk_is_answered, &s);
    s.in.id = NULL;
    return s;
}

/* The code in what a stranger is told. */
static const char *code_of(const struct said *s)
{
    static char code[PAIRING_CODE_LEN + 1];
    const char *const at = strstr(s->answer, "hour: ");
    snprintf(code, sizeof code, "%s", at ? at + 6 : "");
    return code;
}

static enum pairing_result enter(const char *code, struct pairing_person *person)
{
    return pairing_accept(talk.pairing, "tg", code, person, NULL, NULL);
}

static void test_pair(void)
{
    begin();
    struct pairing_person person;
    struct said s = write_as("77", "77", true);
    is_int(s.accepted, TC_COMMAND, "R21: a stranger in a direct chat receives a pairing code");
    char code[20];
    snprintf(code, sizeof code, "%s", code_of(&s));
    is_int(strlen(code), PAIRING_CODE_LEN, "the code has eight characters");
    ok(strstr(s.answer, "run") && strstr(s.answer, "turncast pair tg "),
       "the answer has the command for the operator");
    is_int(write_as("77", "77", true).accepted, TC_DENIED,
           "R21: another message of the stranger gets no answer");
    is_int(talk.disk.n, 0, "nothing that a stranger writes is stored");
    is_int(enter("AAAAAAAA", &person), PAIRING_WRONG, "a wrong code is refused");
    is_int(pairing_accept(talk.pairing, "sl", code, &person, NULL, NULL), PAIRING_WRONG,
           "a code of another instance is refused");
    for (char *p = code; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    is_int(enter(code, &person), PAIRING_DONE, "the code is accepted in lower case");
    is_str(person.user, "77", "the code adds the user it was created for");
    is_str(person.name, "Ann_X", "the name of the user is one line");
    is_int(write_as("77", "77", true).accepted, TC_ACCEPTED, "R21: a paired user may write");
    is_int(write_as("78", "77", false).accepted, TC_DENIED, "R21: another user may not write");
    is_int(enter(code, &person), PAIRING_WRONG, "a code is accepted once");
    talk_await_quiet();
    talk_renew();
    is_int(write_as("77", "-5", false).accepted, TC_ACCEPTED, "the user may write after a restart");
    talk_await_quiet();
    ok(pairing_revoke(talk.pairing, "tg", "77", NULL, NULL), "the pairing is revoked");
    is_int(write_as("77", "-5", false).accepted, TC_DENIED, "R21: a revoked user may not write");
    ok(!pairing_revoke(talk.pairing, "tg", "77", NULL, NULL),
       "a revoked pairing cannot be revoked again");
    talk_end("pairing");
}

static void test_nobody(void)
{
    char five[] = "5", *listed[] = {five, NULL};
    begin();
    is_int(write_as("77", "-5", false).accepted, TC_DENIED,
           "R21: a stranger in a group gets no code");
    talk.instances[0].allow_chats = listed;
    is_int(write_as("77", "77", true).accepted, TC_DENIED,
           "R21: a stranger in a chat that is not listed gets no code");
    talk.instances[0].allow_chats = NULL;
    talk.instances[0].grants = CONF_CANCEL;
    is_int(write_as("77", "77", true).accepted, TC_DENIED,
           "R21: a stranger gets no code without the grant submit");
    talk.instances[0].grants = CONF_SUBMIT;
    talk.instances[0].chat.pairing = false;
    is_int(write_as("77", "77", true).accepted, TC_DENIED,
           "R21: a stranger gets no code without pairing");
    is_int(pairing_count_codes(talk.pairing), 0, "no code was created");
    talk_end("strangers without a code");
}

static void test_limits(void)
{
    begin();
    struct pairing_person person;
    struct pairing *const p = talk.pairing;
    char user[20], first[20];
    clock_fake(1000000, 1.8e9);
    snprintf(first, sizeof first, "%s", pairing_offer(p, "tg", "u0", NULL));
    for (int i = 1; i < PAIRING_CODES_MAX; i++) {
        snprintf(user, sizeof user, "u%d", i);
        ok(pairing_offer(p, "tg", user, NULL), "a code is created");
    }
    ok(!pairing_offer(p, "tg", "late", NULL), "R22: the number of codes of an instance is limited");
    ok(pairing_offer(p, "sl", "late", NULL), "another instance has its own limit");
    for (int i = 0; i < PAIRING_TRIES; i++)
        is_int(enter("22222222", &person), PAIRING_WRONG, "a wrong code is refused");
    is_int(enter(first, &person), PAIRING_LIMITED,
           "R22: after too many wrong codes a valid code is refused, too");
    clock_fake_advance(HOUR_MS + 1);
    is_int(enter(first, &person), PAIRING_WRONG, "a code expires after an hour");
    is_int(pairing_count_codes(p), 0, "expired codes are deleted");
    const char *const again = pairing_offer(p, "tg", "u0", NULL);
    ok(again && strcmp(again, first) != 0, "after an hour the user gets another code");
    clock_fake_end();
    talk_end("limits");
}

static void test_codes_differ(void)
{
    begin();
    char codes[PAIRING_CODES_MAX][20], user[20];
    for (int i = 0; i < PAIRING_CODES_MAX; i++) {
        snprintf(user, sizeof user, "u%d", i);
        snprintf(codes[i], sizeof *codes, "%s", pairing_offer(talk.pairing, "tg", user, NULL));
        for (int k = 0; k < i; k++)
            ok(strcmp(codes[i], codes[k]) != 0, "all codes differ");
    }
    talk_renew();
    is_int(pairing_count_codes(talk.pairing), PAIRING_CODES_MAX, "codes survive a restart");
    ok(!pairing_offer(talk.pairing, "tg", "u3", NULL),
       "a user with a code gets no other code after a restart");
    struct pairing_person person;
    is_int(enter(codes[3], &person), PAIRING_DONE, "a code is accepted after a restart");
    is_str(person.user, "u3", "the code adds its user after a restart");
    talk_end("codes");
}

int main(void)
{
    plan_lazy();
    talk_init();
    test_pair();
    test_nobody();
    test_limits();
    test_codes_differ();
    return 0;
}
