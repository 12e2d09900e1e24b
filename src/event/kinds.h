/* SPDX-License-Identifier: MIT
 * The one table of the sixteen kinds; enum, names, callbacks, visibility and queue policy are
 * all made from it. Order and numbers are those of enum tc_kind. */
#ifndef EVENT_KINDS_H
#define EVENT_KINDS_H

/* Which switch of the agent's visibility shows a kind. */
enum kind_gate {
    GATE_ALWAYS,
    GATE_NARRATION,
    GATE_FINAL,
    GATE_TOOLS,
    GATE_PROGRESS, /* show_tools if it belongs to a tool, else always */
    GATE_THINKING,
    GATE_MESSAGE, /* its text by narration, its reasoning by thinking */
    GATE_ASKED,   /* only for instances that ask for the kind */
};

/* What a full queue may do with a kind, mildest first. */
enum kind_pressure {
    PRESSURE_KEEP,    /* never dropped: its slot is reserved */
    PRESSURE_MERGE,   /* neighbours of the same message are joined, losslessly; never dropped */
    PRESSURE_REPLACE, /* the newer replaces the older of the same tool; then dropped */
    PRESSURE_SHRINK,  /* kept, its content cut to head and tail */
    PRESSURE_DROP,    /* merged where it can be, then dropped and counted */
};

/* K(lower, UPPER, gate, pressure, terminal) */
#define EVENT_KINDS(K)                                                                             \
    K(narration, NARRATION, GATE_NARRATION, PRESSURE_MERGE, 0)                                     \
    K(thinking, THINKING, GATE_THINKING, PRESSURE_DROP, 0)                                         \
    K(message, MESSAGE, GATE_MESSAGE, PRESSURE_SHRINK, 0)                                          \
    K(final, FINAL, GATE_FINAL, PRESSURE_KEEP, 1)                                                  \
    K(tool_call, TOOL_CALL, GATE_TOOLS, PRESSURE_SHRINK, 0)                                        \
    K(progress, PROGRESS, GATE_PROGRESS, PRESSURE_REPLACE, 0)                                      \
    K(tool_result, TOOL_RESULT, GATE_TOOLS, PRESSURE_SHRINK, 0)                                    \
    K(request, REQUEST, GATE_ALWAYS, PRESSURE_KEEP, 0)                                             \
    K(start, START, GATE_ALWAYS, PRESSURE_KEEP, 0)                                                 \
    K(step, STEP, GATE_ALWAYS, PRESSURE_DROP, 0)                                                   \
    K(error, ERROR, GATE_ALWAYS, PRESSURE_KEEP, 1)                                                 \
    K(done, DONE, GATE_ALWAYS, PRESSURE_KEEP, 1)                                                   \
    K(usage, USAGE, GATE_ALWAYS, PRESSURE_KEEP, 0)                                                 \
    K(notice, NOTICE, GATE_ALWAYS, PRESSURE_DROP, 0)                                               \
    K(state, STATE, GATE_ASKED, PRESSURE_DROP, 0)                                                  \
    K(raw, RAW, GATE_ASKED, PRESSURE_DROP, 0)

#endif
