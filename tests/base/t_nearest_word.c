/* SPDX-License-Identifier: MIT
 * Tests of base/nearest_word.h. */
#include "base/nearest_word.h"

#include "tap/tap.h"

static void test_nearest(void)
{
    static const char *const names[] = {"enabled", "visibility", "audience", "fd"};
    is_str(nearest_word_find("enable", names, 4), "enabled", "one letter short");
    is_str(nearest_word_find("visobolity", names, 4), "visibility", "two letters changed");
    is_str(nearest_word_find("adueince", names, 4), "audience", "two neighbours swapped");
    is_str(nearest_word_find("df", names, 4), "fd", "a short word, swapped");
    ok(nearest_word_find("colour", names, 4) == NULL, "nothing near");
    ok(nearest_word_find("", names, 4) == NULL, "nothing said");
    ok(nearest_word_find("x", NULL, 0) == NULL, "no names");
}

int main(void)
{
    plan_lazy();
    test_nearest();
}
