/* SPDX-License-Identifier: MIT
 * Which of two versions of a shared setting counts, and their forms on the bus and in the journal.
 */
#include "core/shared/shared_entry.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "tap/tap.h"

static const struct bus_origin seen = {"h2", "b2", 7}, news = {"h2", "b2", 8};

static enum shared_choice choose(int64_t own_n, const char *own, bool is_changed,
                                 const struct bus_origin *from, int64_t n, const char *value)
{
    CLEANUP_FREE char *text = xstrdup(own);
    return shared_entry_choose(
        &(struct shared_copy){.n = own_n, .value = text, .base = seen, .is_changed = is_changed},
        &(struct shared_entry){.from = *from, .n = n, .value = {value, value ? strlen(value) : 0}});
}

static void test_unknown(void)
{
    ok(choose(0, NULL, false, &news, 3, "1") == SHARED_TAKE, "an unknown entry is taken");
    ok(choose(0, NULL, false, &news, 3, NULL) == SHARED_TAKE, "an unknown deletion is taken");
    ok(choose(2, "1", true, &news, 9, "1") == SHARED_SAME,
       "an entry with the same value is the same");
    ok(choose(2, NULL, false, &news, 9, NULL) == SHARED_SAME, "two deletions are the same");
    ok(choose(2, "1", false, &seen, 2, "10") == SHARED_TAKE, "a longer value is a different value");
}

static void test_changed(void)
{
    ok(choose(2, "1", true, &seen, 1, "2") == SHARED_KEEP,
       "a local change of the known entry is kept");
    ok(choose(2, "1", true, &seen, 1, NULL) == SHARED_KEEP,
       "a local value in place of a known deletion is kept");
    ok(choose(2, "1", true, &news, 9, "2") == SHARED_KEEP,
       "of two concurrent changes the one with the higher number is kept");
    ok(choose(9, "1", true, &news, 2, NULL) == SHARED_TAKE,
       "an unknown deletion has priority over a local value");
    ok(choose(2, NULL, true, &news, 9, "1") == SHARED_KEEP,
       "a local deletion has priority over a concurrent value");
}

static void test_unchanged(void)
{
    ok(choose(2, "1", false, &news, 3, "2") == SHARED_TAKE,
       "an entry with a higher number is taken");
    ok(choose(2, "1", false, &news, 3, NULL) == SHARED_TAKE,
       "a deletion with a higher number is taken");
    ok(choose(2, NULL, false, &news, 3, "1") == SHARED_TAKE,
       "a value with a higher number than a deletion is taken");
    ok(choose(3, "1", false, &news, 2, "2") == SHARED_KEEP,
       "an entry with a lower number is replaced");
    ok(choose(3, NULL, false, &news, 2, "2") == SHARED_KEEP,
       "a value with a lower number does not undo a deletion");
    ok(choose(3, "1", false, &news, 2, NULL) == SHARED_KEEP,
       "a deletion with a lower number is replaced");
    ok(choose(3, "1", false, &news, 3, "2") == SHARED_TAKE,
       "with equal numbers the entry of the servers is taken");
    ok(choose(3, "1", false, &news, 3, NULL) == SHARED_TAKE,
       "with equal numbers a deletion of the servers is taken");
    ok(choose(3, NULL, false, &news, 3, "1") == SHARED_KEEP,
       "with equal numbers a local deletion is kept");
}

static void test_forms(void)
{
    CLEANUP_BUF struct buf on_bus = {0}, deleted = {0}, row = {0}, fresh = {0};
    CLEANUP_FREE char *value = xstrdup("{\"a\":1}");
    struct shared_copy copy = {.n = 4, .value = value, .base = seen, .is_changed = true}, back;
    struct shared_entry e;
    shared_entry_write(&on_bus, &news, &copy);
    ok(shared_entry_read((struct str){on_bus.p, on_bus.len}, &e) == 0 && e.n == 4 &&
           str_is(e.value, value) && bus_origin_equal(&e.from, &news),
       "a written entry is read");
    shared_copy_write(&row, &copy);
    ok(shared_copy_read((struct str){row.p, row.len}, &back) == 0 && back.n == 4 &&
           strcmp(back.value, value) == 0 && bus_origin_equal(&back.base, &seen) && back.is_changed,
       "a written row is read, with its mark as changed");
    free(back.value);
    copy = (struct shared_copy){.n = 1};
    shared_entry_write(&deleted, &news, &copy);
    ok(shared_entry_read((struct str){deleted.p, deleted.len}, &e) == 0 && !e.value.p,
       "a deletion is read without a value");
    shared_copy_write(&fresh, &copy);
    ok(shared_copy_read((struct str){fresh.p, fresh.len}, &back) == 0 && back.n == 1 &&
           !back.value && !back.is_changed && !*back.base.host,
       "a row without a base is read");
    ok(shared_entry_read(STR("{\"v\":2,\"from\":{\"host\":\"h\",\"boot\":\"b\",\"n\":1}}"), &e) < 0,
       "an entry of a later version is refused");
    ok(shared_entry_read(STR("x"), &e) < 0 && shared_copy_read(STR("{"), &back) < 0,
       "text that is not JSON is refused");
}

int main(void)
{
    plan_lazy();
    test_unknown();
    test_changed();
    test_unchanged();
    test_forms();
    return 0;
}
