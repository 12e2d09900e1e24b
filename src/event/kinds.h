/* SPDX-License-Identifier: MIT
 * The one table of the sixteen kinds; enum, names, callbacks, visibility and queue policy are
 * all made from it. Order and numbers are those of enum tc_kind. */
#ifndef EVENT_KINDS_H
#define EVENT_KINDS_H

/* Which switch of the agent's visibility shows a kind. */
enum visibility_class {
    VISIBILITY_ALWAYS,
    VISIBILITY_NARRATION,
    VISIBILITY_FINAL,
    VISIBILITY_TOOLS,
    VISIBILITY_PROGRESS, /* show_tools if it belongs to a tool, else always */
    VISIBILITY_THINKING,
    VISIBILITY_MESSAGE, /* its text by narration, its reasoning by thinking */
    VISIBILITY_ASKED,   /* only for instances that ask for the kind */
};

/* What a full queue may do with a kind, mildest first. */
enum overflow_class {
    OVERFLOW_KEEP,     /* never dropped: its slot is reserved */
    OVERFLOW_COALESCE, /* neighbours of the same message are joined, losslessly; never dropped */
    OVERFLOW_REPLACE,  /* the newer replaces the older of the same tool; then dropped */
    OVERFLOW_TRUNCATE, /* kept, its content cut to head and tail */
    OVERFLOW_DROP,     /* merged where it can be, then dropped and counted */
};

/* K(lower, UPPER, gate, pressure, terminal) */
#define EVENT_KINDS(K)                                                                             \
    K(narration, NARRATION, VISIBILITY_NARRATION, OVERFLOW_COALESCE, 0)                            \
    K(thinking, THINKING, VISIBILITY_THINKING, OVERFLOW_DROP, 0)                                   \
    K(message, MESSAGE, VISIBILITY_MESSAGE, OVERFLOW_TRUNCATE, 0)                                  \
    K(final, FINAL, VISIBILITY_FINAL, OVERFLOW_KEEP, 1)                                            \
    K(tool_call, TOOL_CALL, VISIBILITY_TOOLS, OVERFLOW_TRUNCATE, 0)                                \
    K(progress, PROGRESS, VISIBILITY_PROGRESS, OVERFLOW_REPLACE, 0)                                \
    K(tool_result, TOOL_RESULT, VISIBILITY_TOOLS, OVERFLOW_TRUNCATE, 0)                            \
    K(request, REQUEST, VISIBILITY_ALWAYS, OVERFLOW_KEEP, 0)                                       \
    K(start, START, VISIBILITY_ALWAYS, OVERFLOW_KEEP, 0)                                           \
    K(step, STEP, VISIBILITY_ALWAYS, OVERFLOW_DROP, 0)                                             \
    K(error, ERROR, VISIBILITY_ALWAYS, OVERFLOW_KEEP, 1)                                           \
    K(done, DONE, VISIBILITY_ALWAYS, OVERFLOW_KEEP, 1)                                             \
    K(usage, USAGE, VISIBILITY_ALWAYS, OVERFLOW_KEEP, 0)                                           \
    K(notice, NOTICE, VISIBILITY_ALWAYS, OVERFLOW_DROP, 0)                                         \
    K(state, STATE, VISIBILITY_ASKED, OVERFLOW_DROP, 0)                                            \
    K(raw, RAW, VISIBILITY_ASKED, OVERFLOW_DROP, 0)

#endif
