/* SPDX-License-Identifier: MIT
 * Reader for AG-UI 0.x and 1.0: lines, run start, steps, sub-agents. */
#ifndef DIALECT_AG_UI_AG_UI_H
#define DIALECT_AG_UI_AG_UI_H

#include "dialect/dialect_list.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/value.h"

#define AG_UI_TEXT_MAX ((size_t)8 << 20) /* limit for a message or arguments until their end */
#define AG_UI_OPEN_MAX 256               /* limit of open parts; the oldest is removed */

enum ag_ui_part_kind { AG_UI_NONE, AG_UI_TEXT, AG_UI_REASONING, AG_UI_CALL };

/* An open message, reasoning message or call. */
struct ag_ui_part {
    enum ag_ui_part_kind sort;
    char *id;        /* NULL: the old form of reasoning has none */
    char *name;      /* name of the tool, or role of the message; or NULL */
    char *parent;    /* for a call: id of its message; or NULL */
    char *agent;     /* or NULL */
    char *start;     /* JSON: members of its start; NULL: none, or emitted already */
    struct buf text; /* text so far, or arguments */
    uint64_t age;
};

struct ag_ui {
    bool over, suspended; /* state of the newest run */
    bool has_spent;
    struct tc_usage spent; /* usage of a suspended run so far; no strings */
    struct ag_ui_part parts[AG_UI_OPEN_MAX];
    uint64_t clock;               /* counter, to find the oldest part */
    enum ag_ui_part_kind chunked; /* part assembled from chunks, and its id */
    struct buf chunk_id;
    struct buf span; /* id of the reasoning span, while one is open */
    char *span_start;
    bool spanning, span_used;
    struct open_calls asked;      /* open requests of a suspended run */
    struct open_calls called;     /* calls that wait for their results */
    struct buf answer, answer_id; /* last message of the agent */
    uint64_t answer_age;          /* id of its part */
    bool answered_by_tool;        /* a call followed it */
};

/* One event. */
struct ag_ui_event {
    struct ag_ui *a;
    const struct dialect_sink *out;
    struct str self; /* the line */
    struct str type;
    struct str message_id, call_id, delta, role, name, agent; /* values */
    const char *x;                                            /* other members, or NULL */
};

/* A member of the event, and its text. */
struct str ag_ui_value(const struct ag_ui_event *e, const char *key);
char *ag_ui_text(const struct ag_ui_event *e, const char *key);
/* Emits a draft for the agent of the event. */
void ag_ui_emit_event(const struct ag_ui_event *e, struct event *ev);
/* Adds a member in front of the others: {"key":value,…}. value NULL: x unchanged. */
const char *ag_ui_prepend_member(const struct ag_ui_event *e, const char *key, const char *value,
                                 const char *x);

/* ag_ui_text.c: also parts, which messages and calls share */
struct ag_ui_part *ag_ui_find(struct ag_ui *a, enum ag_ui_part_kind sort, const char *id);
struct ag_ui_part *ag_ui_open(struct ag_ui *a, enum ag_ui_part_kind sort, const char *id);
void ag_ui_close_part(struct ag_ui_part *part);
void ag_ui_append(struct ag_ui_part *part, const char *text, size_t len);
/* Ends the part assembled from chunks. */
void ag_ui_end_chunks(const struct ag_ui_event *e);
void ag_ui_handle_text_start(const struct ag_ui_event *e);
void ag_ui_handle_text_content(const struct ag_ui_event *e);
void ag_ui_handle_text_end(const struct ag_ui_event *e);
void ag_ui_handle_text_chunk(const struct ag_ui_event *e);
void ag_ui_handle_span_start(const struct ag_ui_event *e);
void ag_ui_handle_span_end(const struct ag_ui_event *e);
void ag_ui_handle_reasoning_start(const struct ag_ui_event *e);
void ag_ui_handle_reasoning_content(const struct ag_ui_event *e);
void ag_ui_handle_reasoning_end(const struct ag_ui_event *e);
void ag_ui_handle_reasoning_chunk(const struct ag_ui_event *e);
void ag_ui_handle_encrypted(const struct ag_ui_event *e);

/* ag_ui_tool.c */
void ag_ui_handle_call_start(const struct ag_ui_event *e);
void ag_ui_handle_call_args(const struct ag_ui_event *e);
void ag_ui_handle_call_end(const struct ag_ui_event *e);
void ag_ui_handle_call_chunk(const struct ag_ui_event *e);
void ag_ui_handle_result(const struct ag_ui_event *e);
void ag_ui_end_call(const struct ag_ui_event *e, struct ag_ui_part *part, const char *x);

/* ag_ui_state.c */
void ag_ui_handle_state_snapshot(const struct ag_ui_event *e);
void ag_ui_handle_state_delta(const struct ag_ui_event *e);
void ag_ui_handle_messages(const struct ag_ui_event *e);
void ag_ui_handle_activity_snapshot(const struct ag_ui_event *e);
void ag_ui_handle_activity_delta(const struct ag_ui_event *e);

/* ag_ui_end.c */
void ag_ui_each(const struct ag_ui_event *e, struct str array,
                void (*tell)(const struct ag_ui_event *, struct str));
/* Whether an interrupt, a JSON object, requests the approval of a call. */
bool ag_ui_asks_approval(struct arena *scratch, struct str interrupt);
void ag_ui_handle_run_finished(const struct ag_ui_event *e);
void ag_ui_handle_run_error(const struct ag_ui_event *e);

#endif
