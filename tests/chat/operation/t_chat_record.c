/* SPDX-License-Identifier: MIT
 * Tests of chat/operation/chat_record.h and chat_key.h: a record that is written and read is the
 * same, whatever a tag contains; keys are the same in every process and differ where operations
 * differ. */
#include "chat/operation/chat_record.h"

#include <stdlib.h>
#include <string.h>

#include "chat/operation/chat_key.h"
#include "tap/tap.h"

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void test_round_trip(void)
{
    json_t *const buttons = json_pack("[[s, s, i]]", "a:t:allow", "Allow", 2);
    json_t *const fields = json_pack("[[s, n, b, []]]", "q", 1);
    const struct chat_record r = {
        .op = TC_OP_EDIT,
        .role = TC_ROLE_CARD,
        .state = CHAT_EDITING,
        .target = {.chat = "c\"1", .thread = "t", .message = "m", .user = "u", .group = true},
        .slot = CHAT_SLOT_CARD ":0:r",
        .message = "9",
        .text = "<b>ü</b>",
        .plain = "ü",
        .buttons = buttons,
        .fields = fields,
        .part = 3,
        .generation = 4,
        .omit = TC_OMIT_REPLY,
        .tried = {.doubts = 2, .errors = 7, .cuts = 1, .marked = true, .bare = true},
        .last = true,
        .beside = {.edits = true, .append = true},
        .reaction = TC_REACTION_TAKEN,
        .since_ms = INT64_C(1790000000000),
        .until_ms = INT64_C(1790000086400),
    };
    struct chat_record back;
    char *const tag = chat_record_write(&r);
    ok(chat_record_read(&back, tag), "a written record is read");
    ok(back.op == r.op && back.role == r.role && back.state == r.state,
       "operation, role and state of the record");
    ok(is_same(back.target.chat, "c\"1") && is_same(back.target.thread, "t") && back.target.group &&
           !back.target.more,
       "the target of the record");
    ok(is_same(back.slot, r.slot) && is_same(back.message, "9") && is_same(back.text, r.text) &&
           is_same(back.plain, "ü") && !back.entities && !back.cursor,
       "the texts of the record; missing texts are NULL");
    ok(back.part == 3 && back.generation == 4 && back.omit == TC_OMIT_REPLY && back.step == 0,
       "numbers");
    ok(back.tried.doubts == 2 && back.tried.errors == 7 && back.tried.cuts == 1 &&
           back.tried.marked && !back.tried.moved && back.last && back.beside.edits &&
           back.tried.bare && back.beside.append && !back.silent,
       "history and flags of the record");
    ok(back.since_ms == r.since_ms && back.until_ms == r.until_ms &&
           back.reaction == TC_REACTION_TAKEN && json_equal(back.buttons, buttons) &&
           json_equal(back.fields, fields),
       "times, reaction, buttons and fields of the record");
    ok(chat_record_is_slot(&back, CHAT_SLOT_CARD) && !chat_record_is_slot(&back, "car"),
       "a slot matches as a whole word at the beginning");
    chat_record_fini(&back);
    free(tag);
    json_decref(buttons);
    json_decref(fields);
}

static void test_refused(void)
{
    static const char *const tags[] = {
        "",
        "{}",
        "chat:",
        "chat:[]",
        "chat:{\"o\":1,\"ro\":1,\"ds\":0}",
        "chat:{\"s\":\"answer\",\"o\":99,\"ro\":1,\"ds\":0}",
        "chat:{\"s\":\"answer\",\"o\":-1,\"ro\":1,\"ds\":0}",
        "chat:{\"s\":\"answer\",\"o\":1,\"ro\":9,\"ds\":0}",
        "chat:{\"s\":\"answer\",\"o\":1,\"ro\":1,\"ds\":8}",
        "chat:{\"s\":\"answer\",\"o\":1,\"ro\":1,\"ds\":0,\"re\":8}",
        "chat:{\"s\":\"answer\",\"o\":4,\"ro\":1,\"ds\":4}",
        "chat:{\"s\":\"answer\",\"o\":4,\"ro\":1,\"ds\":0,\"fn\":\"a.md\"}",
        "chat:{\"s\":\"answer\",\"o\":2,\"ro\":1,\"ds\":1}",
        "chat:{\"s\":\"close\",\"o\":15,\"ro\":0,\"ds\":0}",
        "chat:{\"s\":\"answer\",\"o\":15,\"ro\":1,\"ds\":5,\"m\":\"s\",\"t\":\"x\"}",
        "chat:{\"s\":\"answer:stream\",\"o\":15,\"ro\":1,\"ds\":5,\"m\":\"s\"}",
        "chat:{\"s\":\"answer:stream\",\"o\":8,\"ro\":1,\"ds\":2,\"t\":\"x\"}",
        "chat:{\"s\":\"answer:stream\",\"o\":4,\"ro\":1,\"ds\":4,\"m\":\"s\",\"t\":\"x\",\"fn\":"
        "\"a\"}",
        "mine:{\"s\":\"answer\",\"o\":1,\"ro\":1,\"ds\":0}",
    };
    struct chat_record r;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        ok(!chat_record_read(&r, tags[i]), "not a record: %s", tags[i]);
    ok(!chat_record_read(&r, NULL), "a missing tag is not a record");
}

static void test_keys(void)
{
    const struct chat_record r = {.slot = "answer", .part = 1, .generation = 2};
    struct chat_record other = r;
    char key[CHAT_KEY_LENGTH + 1], again[CHAT_KEY_LENGTH + 1];
    chat_key_write(key, "tg", "t1", &r);
    is_str(key, "bmueuhazed4bvumwll763h6w", "a key is the same in every process");
    ok(strlen(key) == CHAT_KEY_LENGTH &&
           strspn(key, "abcdefghijklmnopqrstuvwxyz234567") == CHAT_KEY_LENGTH,
       "a key has 24 safe characters");
    chat_key_write(again, "t", "gt1", &r);
    ok(strcmp(key, again) != 0, "the key separates instance and turn");
    other.generation = 3;
    chat_key_write(again, "tg", "t1", &other);
    ok(strcmp(key, again) != 0, "another generation has another key");
    other = (struct chat_record){.slot = "answer", .part = 12};
    chat_key_write(again, "tg", "t1", &other);
    ok(strcmp(key, again) != 0, "the key separates part and generation");
}

int main(void)
{
    plan_lazy();
    test_round_trip();
    test_refused();
    test_keys();
    return 0;
}
