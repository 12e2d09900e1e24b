/* SPDX-License-Identifier: MIT
 * What was asked for lately: found again, for its time, within bounds. */
#include "api/shared/chat_dedup.h"
#include "base/sys/clock.h"
#include "tap/tap.h"

#define MINUTE_MS 60000

static struct chat_dedup_fingerprint print_of(unsigned n)
{
    return chat_dedup_make_fingerprint(&(struct str){(const char *)&n, sizeof n}, 1);
}

static void add(struct chat_dedup *s, unsigned n, const char *turn)
{
    const struct chat_dedup_fingerprint print = print_of(n);
    chat_dedup_add(s, &print, turn);
}

static const char *find(const struct chat_dedup *s, unsigned n)
{
    const struct chat_dedup_fingerprint print = print_of(n);
    return chat_dedup_find(s, &print);
}

static unsigned forgotten(const struct chat_dedup *s, unsigned n)
{
    const struct chat_dedup_fingerprint print = print_of(n);
    return chat_dedup_forgotten(s, &print);
}

int main(void)
{
    plan_lazy();
    clock_fake(1000, 1784884500);
    struct chat_dedup *const s = chat_dedup_new();
    ok(!find(s, 1), "nothing was asked for");
    add(s, 1, "turn-a");
    add(s, 2, "turn-b");
    is_str(find(s, 1), "turn-a", "what was asked for is found");
    add(s, 1, "turn-c");
    is_str(find(s, 1), "turn-c", "the newest");
    chat_dedup_forget(s, "turn-c");
    ok(!find(s, 1), "not one that was ended, and none before it");
    is_int(forgotten(s, 1), 1, "which is counted");
    is_int(forgotten(s, 2), 0, "for itself");
    add(s, 1, "turn-d");
    is_str(find(s, 1), "turn-d", "the one behind it is");
    clock_fake_advance(15 * MINUTE_MS - 1);
    is_str(find(s, 2), "turn-b", "for 15 minutes");
    clock_fake_advance(1);
    ok(!find(s, 2) && !find(s, 1), "no longer");
    add(s, 3, "turn-e");
    for (unsigned n = 0; n < 1023; n++)
        add(s, 100 + n, "turn-f");
    is_str(find(s, 3), "turn-e", "of 1024 the oldest is there");
    add(s, 4, "turn-g");
    ok(!find(s, 3) && find(s, 4), "of more it is not");
    chat_dedup_free(s);
    clock_fake_end();
    return 0;
}
