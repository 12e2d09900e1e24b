/* SPDX-License-Identifier: MIT
 * Reader for AG-UI 0.x and 1.0: lines, run start, steps, sub-agents. */
#ifndef DIALECT_AG_UI_AG_UI_H
#define DIALECT_AG_UI_AG_UI_H

#include "dialect/dialect_list.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/value.h"

#define AG_UI_TEXT_MAX ((size_t)8 << 20) /* of a message or of arguments, kept until its end */
#define AG_UI_OPEN_MAX 256               /* parts open at once; the oldest is forgotten */

enum ag_ui_part_kind { AG_UI_NONE, AG_UI_TEXT, AG_UI_REASONING, AG_UI_CALL };

/* A message, a reasoning message or a call that has begun and not ended. */
struct ag_ui_part {
    enum ag_ui_part_kind sort;
    char *id;        /* NULL: the old form of reasoning has none */
    char *name;      /* of the tool; of a message its role; or NULL */
    char *parent;    /* of a call: its message; or NULL */
    char *agent;     /* or NULL */
    char *start;     /* JSON: what its start said; NULL: nothing, or it has been told */
    struct buf text; /* so far; arguments of a call */
    uint64_t age;
};

struct ag_ui {
    bool over, suspended; /* the newest run ended, and how */
    bool has_spent;
    struct tc_usage spent; /* by the run so far, when it was suspended; no strings */
    struct ag_ui_part parts[AG_UI_OPEN_MAX];
    uint64_t clock;               /* counts parts, for the oldest */
    enum ag_ui_part_kind chunked; /* what the chunks make, and its id */
    struct buf chunk_id;
    struct buf span; /* the reasoning span's id, when spanning */
    char *span_start;
    bool spanning, span_used;
    struct open_calls asked;      /* what a suspended run waits for */
    struct open_calls called;     /* calls that wait for their results */
    struct buf answer, answer_id; /* what the agent said last */
    uint64_t answer_age;          /* of its part */
    bool answered_by_tool;        /* a call came behind it */
};

/* One event. */
struct ag_ui_event {
    struct ag_ui *a;
    const struct dialect_sink *out;
    struct str self; /* the line */
    struct str type;
    struct str message_id, call_id, delta, role, name, agent; /* values */
    const char *x;                                            /* what has no place, or NULL */
};

/* A member of the event, and its text. */
struct str ag_ui_value(const struct ag_ui_event *e, const char *key);
char *ag_ui_text(const struct ag_ui_event *e, const char *key);
/* Tells a draft as what the event's own agent did. */
void ag_ui_tell(const struct ag_ui_event *e, struct event *ev);
/* x with a member of its own before the others: {"key":value,…}. value NULL: x as it is. */
const char *ag_ui_prepend_member(const struct ag_ui_event *e, const char *key, const char *value,
                                 const char *x);

/* ag_ui_text.c: parts too, which calls have in common with messages */
struct ag_ui_part *ag_ui_find(struct ag_ui *a, enum ag_ui_part_kind sort, const char *id);
struct ag_ui_part *ag_ui_open(struct ag_ui *a, enum ag_ui_part_kind sort, const char *id);
void ag_ui_close_part(struct ag_ui_part *part);
void ag_ui_append(struct ag_ui_part *part, const char *text, size_t len);
/* Ends what the chunks made so far. */
void ag_ui_end_chunks(const struct ag_ui_event *e);
void ag_ui_take_text_start(const struct ag_ui_event *e);
void ag_ui_take_text_content(const struct ag_ui_event *e);
void ag_ui_take_text_end(const struct ag_ui_event *e);
void ag_ui_take_text_chunk(const struct ag_ui_event *e);
void ag_ui_take_span_start(const struct ag_ui_event *e);
void ag_ui_take_span_end(const struct ag_ui_event *e);
void ag_ui_take_reasoning_start(const struct ag_ui_event *e);
void ag_ui_take_reasoning_content(const struct ag_ui_event *e);
void ag_ui_take_reasoning_end(const struct ag_ui_event *e);
void ag_ui_take_reasoning_chunk(const struct ag_ui_event *e);
void ag_ui_take_encrypted(const struct ag_ui_event *e);

/* ag_ui_tool.c */
void ag_ui_take_call_start(const struct ag_ui_event *e);
void ag_ui_take_call_args(const struct ag_ui_event *e);
void ag_ui_take_call_end(const struct ag_ui_event *e);
void ag_ui_take_call_chunk(const struct ag_ui_event *e);
void ag_ui_take_result(const struct ag_ui_event *e);
void ag_ui_end_call(const struct ag_ui_event *e, struct ag_ui_part *part, const char *x);

/* ag_ui_state.c */
void ag_ui_take_state_snapshot(const struct ag_ui_event *e);
void ag_ui_take_state_delta(const struct ag_ui_event *e);
void ag_ui_take_messages(const struct ag_ui_event *e);
void ag_ui_take_activity_snapshot(const struct ag_ui_event *e);
void ag_ui_take_activity_delta(const struct ag_ui_event *e);

/* ag_ui_end.c */
void ag_ui_each(const struct ag_ui_event *e, struct str array,
                void (*tell)(const struct ag_ui_event *, struct str));
/* Whether an interrupt, a JSON object, asks that a call be approved. */
bool ag_ui_asks_approval(struct arena *scratch, struct str interrupt);
void ag_ui_take_run_finished(const struct ag_ui_event *e);
void ag_ui_take_run_error(const struct ag_ui_event *e);

#endif
