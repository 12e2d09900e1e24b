/* SPDX-License-Identifier: MIT
 * Tests of base/nearest_word.h. */
#include "base/nearest_word.h"

#include "tap/tap.h"

static void test_nearest(void)
{
    static const char *const names[] = {"enabled", "visibility", "audience", "fd"};
    is_str(nearest_word_find("enable", names, 4), "enabled", "one letter is missing");
    is_str(nearest_word_find("visobolity", names, 4), "visibility", "two letters changed");
    is_str(nearest_word_find("adueince", names, 4), "audience", "two neighbours swapped");
    is_str(nearest_word_find("df", names, 4), "fd", "a short word, swapped");
    is_str(nearest_word_find("vis", names, 4), "visibility", "the beginning of one name");
    ok(nearest_word_find("vi", names, 4) == NULL, "a beginning of two letters is too short");
    static const char *const near[] = {"mode", "models", "memory_mb", "memory_max"};
    is_str(nearest_word_find("model", near, 4), "models",
           "a beginning is preferred to a changed letter");
    ok(nearest_word_find("memory", near, 4) == NULL, "a beginning of two names is ambiguous");
    ok(nearest_word_find("colour", names, 4) == NULL, "no name is near");
    ok(nearest_word_find("", names, 4) == NULL, "an empty word");
    ok(nearest_word_find("x", NULL, 0) == NULL, "no names");
}

int main(void)
{
    plan_lazy();
    test_nearest();
}
