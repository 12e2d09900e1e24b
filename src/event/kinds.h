/* SPDX-License-Identifier: MIT
 * Table of the sixteen kinds; enum, names, callbacks, visibility and queue policy are generated
 * from it. Order and numbers are those of enum tc_kind. */
#ifndef EVENT_KINDS_H
#define EVENT_KINDS_H

/* The visibility setting that shows a kind. */
enum visibility_class {
    VISIBILITY_ALWAYS,
    VISIBILITY_NARRATION,
    VISIBILITY_FINAL,
    VISIBILITY_TOOLS,
    VISIBILITY_PROGRESS, /* show_tools if it belongs to a tool, otherwise always shown */
    VISIBILITY_THINKING,
    VISIBILITY_MESSAGE, /* its text by show_narration, its reasoning by show_thinking */
    VISIBILITY_ASKED,   /* only for instances that ask for the kind */
};

/* Actions that a full queue may take on events of a kind, mildest first. */
enum overflow_class {
    OVERFLOW_KEEP,     /* never dropped: its slot is reserved */
    OVERFLOW_COALESCE, /* neighbours of the same message are joined, losslessly; never dropped */
    OVERFLOW_REPLACE,  /* the newer one replaces the older one of the same tool; then dropped */
    OVERFLOW_TRUNCATE, /* kept, but its content is truncated */
    OVERFLOW_DROP,     /* merged if possible, then dropped and counted */
};

/* K(lower, UPPER, gate, pressure) */
#define EVENT_KINDS(K)                                                                             \
    K(narration, NARRATION, VISIBILITY_NARRATION, OVERFLOW_COALESCE)                               \
    K(thinking, THINKING, VISIBILITY_THINKING, OVERFLOW_DROP)                                      \
    K(message, MESSAGE, VISIBILITY_MESSAGE, OVERFLOW_TRUNCATE)                                     \
    K(final, FINAL, VISIBILITY_FINAL, OVERFLOW_KEEP)                                               \
    K(tool_call, TOOL_CALL, VISIBILITY_TOOLS, OVERFLOW_TRUNCATE)                                   \
    K(progress, PROGRESS, VISIBILITY_PROGRESS, OVERFLOW_REPLACE)                                   \
    K(tool_result, TOOL_RESULT, VISIBILITY_TOOLS, OVERFLOW_TRUNCATE)                               \
    K(request, REQUEST, VISIBILITY_ALWAYS, OVERFLOW_KEEP)                                          \
    K(start, START, VISIBILITY_ALWAYS, OVERFLOW_KEEP)                                              \
    K(step, STEP, VISIBILITY_ALWAYS, OVERFLOW_DROP)                                                \
    K(error, ERROR, VISIBILITY_ALWAYS, OVERFLOW_KEEP)                                              \
    K(done, DONE, VISIBILITY_ALWAYS, OVERFLOW_KEEP)                                                \
    K(usage, USAGE, VISIBILITY_ALWAYS, OVERFLOW_KEEP)                                              \
    K(notice, NOTICE, VISIBILITY_ALWAYS, OVERFLOW_DROP)                                            \
    K(state, STATE, VISIBILITY_ASKED, OVERFLOW_DROP)                                               \
    K(raw, RAW, VISIBILITY_ASKED, OVERFLOW_DROP)

#endif
