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
    is_int(strlen(code), PAIRING_CODE_LEN, "of eight characters");
    ok(strstr(s.answer, "run") && strstr(s.answer, "turncast pair tg "), "and what to do with it");
    is_int(write_as("77", "77", true).accepted, TC_DENIED, "R21: then nothing more");
    is_int(talk.disk.n, 0, "nothing is kept of what a stranger writes");
    is_int(enter("AAAAAAAA", &person), PAIRING_WRONG, "a wrong code");
    is_int(pairing_accept(talk.pairing, "sl", code, &person, NULL, NULL), PAIRING_WRONG,
           "the code of another instance");
    for (char *p = code; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    is_int(enter(code, &person), PAIRING_DONE, "the code, whatever its case");
    is_str(person.user, "77", "adds its person");
    is_str(person.name, "Ann_X", "with a name of one line");
    is_int(write_as("77", "77", true).accepted, TC_ACCEPTED, "R21: a paired user may write");
    is_int(write_as("78", "77", false).accepted, TC_DENIED, "R21: nobody else may");
    is_int(enter(code, &person), PAIRING_WRONG, "a code is good once");
    talk_await_quiet();
    talk_renew();
    is_int(write_as("77", "-5", false).accepted, TC_ACCEPTED, "also after a restart");
    talk_await_quiet();
    ok(pairing_revoke(talk.pairing, "tg", "77", NULL, NULL), "it is revoked");
    is_int(write_as("77", "-5", false).accepted, TC_DENIED, "R21: then they may not");
    ok(!pairing_revoke(talk.pairing, "tg", "77", NULL, NULL), "once");
    talk_end("pairing");
}

static void test_nobody(void)
{
    char five[] = "5", *listed[] = {five, NULL};
    begin();
    is_int(write_as("77", "-5", false).accepted, TC_DENIED, "R21: no code in a group");
    talk.instances[0].allow_chats = listed;
    is_int(write_as("77", "77", true).accepted, TC_DENIED, "R21: nor in a chat that is not listed");
    talk.instances[0].allow_chats = NULL;
    talk.instances[0].grants = CONF_CANCEL;
    is_int(write_as("77", "77", true).accepted, TC_DENIED, "R21: nor without the grant");
    talk.instances[0].grants = CONF_SUBMIT;
    talk.instances[0].chat.pairing = false;
    is_int(write_as("77", "77", true).accepted, TC_DENIED, "R21: nor unless pairing is on");
    is_int(pairing_count_codes(talk.pairing), 0, "no code was made");
    talk_end("no codes");
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
        ok(pairing_offer(p, "tg", user, NULL), "a code");
    }
    ok(!pairing_offer(p, "tg", "late", NULL), "R22: codes are limited");
    ok(pairing_offer(p, "sl", "late", NULL), "of each instance");
    for (int i = 0; i < PAIRING_TRIES; i++)
        is_int(enter("22222222", &person), PAIRING_WRONG, "wrong");
    is_int(enter(first, &person), PAIRING_LIMITED, "R22: so is guessing, even for a right code");
    clock_fake_advance(HOUR_MS + 1);
    is_int(enter(first, &person), PAIRING_WRONG, "a code is valid for an hour");
    is_int(pairing_count_codes(p), 0, "all are gone then");
    const char *const again = pairing_offer(p, "tg", "u0", NULL);
    ok(again && strcmp(again, first) != 0, "after an hour there is another one");
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
            ok(strcmp(codes[i], codes[k]) != 0, "codes differ");
    }
    talk_renew();
    is_int(pairing_count_codes(talk.pairing), PAIRING_CODES_MAX, "codes survive a restart");
    ok(!pairing_offer(talk.pairing, "tg", "u3", NULL), "and nobody gets another one");
    struct pairing_person person;
    is_int(enter(codes[3], &person), PAIRING_DONE, "they are still good");
    is_str(person.user, "u3", "for their person");
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
