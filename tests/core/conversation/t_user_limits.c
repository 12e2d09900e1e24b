/* SPDX-License-Identifier: MIT
 * Whose turns run: counted by person and source. */
#include "core/conversation/user_limits.h"

#include "tap/tap.h"

int main(void)
{
    plan(7);
    struct people *const p = people_new();
    is_int((long)people_turns(p, "slack", "U1"), 0, "nobody has a turn");
    people_enter(p, "slack", "U1");
    people_enter(p, "slack", "U1");
    people_enter(p, "telegram", "U1");
    people_enter(p, "slack", "U2");
    people_enter(p, "slack", NULL);
    is_int((long)people_turns(p, "slack", "U1"), 2, "two of one person");
    is_int((long)people_turns(p, "telegram", "U1"), 1, "who is another elsewhere");
    is_int((long)people_turns(p, "slack", NULL), 0, "nobody's turns are not counted");
    people_leave(p, "slack", NULL);
    people_leave(p, "slack", "U1");
    is_int((long)people_turns(p, "slack", "U1"), 1, "one ends");
    people_leave(p, "slack", "U1");
    people_leave(p, "slack", "U1");
    is_int((long)people_turns(p, "slack", "U1"), 0, "the other, too");
    is_int((long)people_turns(p, "slack", "U2"), 1, "others go on");
    people_free(p);
    return 0;
}
