/* SPDX-License-Identifier: MIT
 * Tests of turn/open_items.h: what is open, what was, and how much of it is kept. */
#include "turn/open_items.h"

#include <stdio.h>
#include <string.h>

#include "tap/tap.h"

static const struct tc_meta nobody;

static struct open_items_entry *open_plain(struct open_items *l, const char *id)
{
    return open_items_open(l, id, &(struct open_item_info){.index = -1, .meta = &nobody});
}

static void test_open_and_close(void)
{
    struct open_items l = {0};
    ok(!open_items_find(&l, "a"), "an empty book knows nothing");
    struct open_items_entry *const a = open_plain(&l, "a");
    struct open_items_entry *const b = open_plain(&l, "b");
    ok(open_items_find(&l, "a") == a && open_items_find(&l, "b") == b, "what was opened is found");
    ok(!open_items_find(&l, "ab") && !open_items_find(&l, ""), "and nothing else");
    ok(l.open.oldest == a && l.open.newest == b, "in order");
    open_plain(&l, "costarring");
    ok(!open_items_find(&l, "liquid"), "also where the hashes are the same");
    open_items_close(&l, l.open.newest);
    open_items_close(&l, a);
    ok(open_items_find(&l, "a") == a && !a->open, "what was closed is remembered");
    ok(l.open.oldest == b && l.open.count == 1 && l.closed.count == 2, "apart from what is open");
    open_items_fini(&l);
    ok(!open_items_find(&l, "b") && l.bytes == 0, "fini forgets everything");
}

static void test_note(void)
{
    struct open_items l = {0};
    char agent[] = "sub", id[] = "s";
    const struct tc_meta meta = {.agent = agent, .parent_id = "t0"};
    const struct open_item_info note = {
        .name = "n", .kind = "agent", .step_id = "i", .index = 3, .nameless = true, .meta = &meta};
    const struct open_items_entry *const e = open_items_open(&l, id, &note);
    agent[0] = id[0] = '!';
    is_str(e->id, "s", "the id is a copy");
    is_str(e->agent, "sub", "the agent is a copy");
    is_str(e->parent_id, "t0", "parent_id");
    is_str(e->name, "n", "name");
    is_str(e->kind, "agent", "kind");
    is_str(e->step_id, "i", "step_id");
    ok(e->index == 3 && e->nameless && e->open, "index and flags");
    open_items_fini(&l);
}

static void test_forgetting_book(void)
{
    struct open_items l = {.forgets = true};
    open_items_close(&l, open_plain(&l, "a"));
    ok(!open_items_find(&l, "a"), "a book that forgets does");
    ok(open_plain(&l, "a") == open_items_find(&l, "a"), "so the id may open again");
    open_items_fini(&l);
    ok(l.forgets, "fini keeps that it forgets");
}

static void test_bounds(void)
{
    struct open_items l = {0};
    char id[32];
    bool found = true;
    for (int i = 0; i < 3 * BOOK_MAX; i++) {
        snprintf(id, sizeof(id), "id-%d", i);
        open_items_close(&l, open_plain(&l, id));
        found = found && open_items_find(&l, id);
    }
    ok(found, "the newest is always remembered");
    is_int((long long)l.closed.count, BOOK_MAX, "the oldest are forgotten");
    ok(!open_items_find(&l, "id-0"), "such as the first");
    ok(!open_items_is_full(&l), "what is closed takes no room");
    for (int i = 0; !open_items_is_full(&l) && i < 3 * BOOK_MAX; i++) {
        snprintf(id, sizeof(id), "open-%d", i);
        open_plain(&l, id);
    }
    is_int((long long)l.open.count, BOOK_MAX, "what is open does");
    open_items_close(&l, l.open.oldest);
    ok(!open_items_is_full(&l), "until one is closed");
    open_items_fini(&l);
}

static void test_bytes(void)
{
    static char big[BOOK_MAX_BYTES / 2];
    struct open_items l = {0};
    memset(big, 'x', sizeof(big) - 1);
    for (int i = 0; i < 10; i++) {
        big[0] = (char)('a' + i);
        open_items_close(&l, open_plain(&l, big));
    }
    ok(l.bytes <= BOOK_MAX_BYTES, "closed entries stay within the bytes");
    is_int((long long)l.closed.count, 1, "few huge ones");
    open_plain(&l, "a");
    ok(!open_items_is_full(&l), "and make room for open ones");
    big[0] = 'y';
    open_plain(&l, big);
    big[0] = 'z';
    open_plain(&l, big);
    ok(open_items_is_full(&l), "huge open ones fill it");
    open_items_fini(&l);
}

int main(void)
{
    plan_lazy();
    test_open_and_close();
    test_note();
    test_forgetting_book();
    test_bounds();
    test_bytes();
}
