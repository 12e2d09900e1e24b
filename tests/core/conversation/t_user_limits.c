/* SPDX-License-Identifier: MIT
 * Whose turns run: counted by person and source. */
#include "core/conversation/user_limits.h"

#include "tap/tap.h"

int main(void)
{
    plan(7);
    struct user_limits *const p = user_limits_new();
    is_int((long)user_limits_count(p, "slack", "U1"), 0, "a user without turns");
    user_limits_acquire(p, "slack", "U1");
    user_limits_acquire(p, "slack", "U1");
    user_limits_acquire(p, "telegram", "U1");
    user_limits_acquire(p, "slack", "U2");
    user_limits_acquire(p, "slack", NULL);
    is_int((long)user_limits_count(p, "slack", "U1"), 2, "a user with two turns");
    is_int((long)user_limits_count(p, "telegram", "U1"), 1,
           "a user with the same id at another service");
    is_int((long)user_limits_count(p, "slack", NULL), 0, "turns without a user are not counted");
    user_limits_release(p, "slack", NULL);
    user_limits_release(p, "slack", "U1");
    is_int((long)user_limits_count(p, "slack", "U1"), 1, "one turn of the user ends");
    user_limits_release(p, "slack", "U1");
    user_limits_release(p, "slack", "U1");
    is_int((long)user_limits_count(p, "slack", "U1"), 0,
           "the other turn of the user ends; a further end is ignored");
    is_int((long)user_limits_count(p, "slack", "U2"), 1, "the turn of another user still counts");
    user_limits_free(p);
    return 0;
}
