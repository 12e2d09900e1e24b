/* SPDX-License-Identifier: MIT
 * The connector null: discards every event, to measure the cost of the host. */
#include <turncast/plugin.h>

/* The sixteen kinds; not on_event, for which the host would encode JSON. */
#define KINDS(K)                                                                                   \
    K(narration)                                                                                   \
    K(thinking)                                                                                    \
    K(message)                                                                                     \
    K(final)                                                                                       \
    K(tool_call)                                                                                   \
    K(progress)                                                                                    \
    K(tool_result)                                                                                 \
    K(request)                                                                                     \
    K(start)                                                                                       \
    K(step)                                                                                        \
    K(error)                                                                                       \
    K(done)                                                                                        \
    K(usage)                                                                                       \
    K(notice)                                                                                      \
    K(state)                                                                                       \
    K(raw)

#define TAKE(kind)                                                                                 \
    static int take_##kind(struct tc_turn *turn, const struct tc_##kind *ev)                       \
    {                                                                                              \
        (void)turn;                                                                                \
        (void)ev;                                                                                  \
        return 0;                                                                                  \
    }
KINDS(TAKE)

#define MEMBER(kind) .on_##kind = take_##kind,
TURNCAST_PLUGIN(.name = "null", .version = "1.0", .summary = "discards every event",
                .flags = TC_SEES_ALL, .sink = TC_SINK(KINDS(MEMBER)));
