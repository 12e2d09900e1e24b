/* SPDX-License-Identifier: MIT
 * Reader for chat-completion chunks: text, reasoning, finish reason, usage. */
#ifndef DIALECT_OPENAI_OPENAI_H
#define DIALECT_OPENAI_OPENAI_H

#include "dialect/dialect_list.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/value.h"

#define OPENAI_CALLS 128
#define OPENAI_ARGS_MAX ((size_t)32 << 20)
#define OPENAI_TEXT_MAX ((size_t)32 << 20)

struct openai_call {
    int64_t index;
    bool told;
    struct buf id, name, args;
};

struct openai {
    bool started, finished, failed, answered, refused;
    struct buf text; /* text after the last tool call */
    struct buf id;   /* of the completion */
    struct buf model;
    struct buf usage; /* the newest one, JSON */
    struct openai_call calls[OPENAI_CALLS];
    size_t call_count;
};

struct openai_choice {
    struct openai *o;
    const struct dialect_sink *out;
    struct str self, delta; /* the choice, and its delta or complete message */
};

/* Text of the assistant. */
void openai_emit_text(const struct openai_choice *c, const char *text, size_t len);
/* Completes the current message. */
void openai_complete_text(const struct openai_choice *c);
const char *openai_message_id(const struct openai *o);

/* openai_tool.c */
void openai_handle_calls(const struct openai_choice *c);
/* Emits the complete calls; false: there was none. */
bool openai_settle_calls(const struct openai_choice *c);
void openai_calls_fini(struct openai *o);

/* openai_agenticore.c: whether the choice has a tag and was emitted. */
bool openai_agenticore_handle(const struct openai_choice *c);

#endif
