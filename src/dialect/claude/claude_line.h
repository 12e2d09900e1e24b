/* SPDX-License-Identifier: MIT
 * One line of Claude Code's stream-json as slices: read in one pass, keys in any order, nothing
 * copied. Slices are raw (still escaped) and live as long as the line. */
#ifndef DIALECT_CLAUDE_CLAUDE_LINE_H
#define DIALECT_CLAUDE_CLAUDE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"
#include "event/json/json_reader.h"

/* Tokens; negative: absent. */
struct claude_usage {
    int64_t input, output, cache_read, cache_write;
};

#define CLAUDE_USAGE_NONE ((struct claude_usage){-1, -1, -1, -1})

/* One content block. */
struct claude_content {
    struct str type, text, thinking, signature, data; /* strings */
    struct str id, name, tool_use_id;                 /* strings */
    struct str input, content, self;                  /* values */
    bool is_error;
};

/* Body of a line: the value of its "event" or of its "message". */
struct claude_body {
    struct str self; /* the value; absent: no body */
    bool is_event;
    struct str event;       /* type of the event */
    int64_t index;          /* index of its block; negative: absent */
    struct str delta;       /* type of its delta */
    struct str piece;       /* text of its delta, whatever its key */
    struct str stop_reason; /* of its message_delta, or of the message */
    struct str message_id, model;
    struct claude_usage usage;
    struct claude_content block; /* block of the event, or the first one of the message */
    struct str blocks;           /* value: the whole array, if there are several */
    struct str text;             /* a message content that is a plain string */
};

struct claude_line {
    struct str self; /* the whole line */
    struct str type, subtype, session_id, uuid, parent, agent_id;
    struct claude_body body;
    int64_t abandoned_from; /* first abandoned block; negative: none */
    struct str abandoned_id;
    struct str error, api_error, api_error_type;  /* of a synthetic assistant line */
    struct str supersedes;                        /* value */
    struct str tool_use_result, tool_result_meta; /* values */
    bool aborted, api_error_message, synthetic, replay;
};

/* 0, or -1: not a JSON object, and *l must not be used. The memo, or NULL, is for a string of the
 * body. */
int claude_line_parse(struct claude_line *l, const char *line, size_t len,
                      struct json_memo *memo) MUST_CHECK;
/* Parses the next body: an event, otherwise a message. The last one in a line counts. */
void claude_body_parse(struct json *j, bool is_event, struct claude_body *b);
/* Detection score for Claude Code, see struct dialect. */
int claude_sniff(struct str line, const char *event);
/* Parses one content block with a cursor that points before it. */
void claude_content_read(struct json *j, struct claude_content *block);

/* Tokens of a usage object. */
struct claude_usage claude_usage_read(struct str value);

#endif
