/* SPDX-License-Identifier: MIT
 * State of the claude dialect (stream-json of `claude -p`), shared by its files: claude.c the life
 * of a stream, claude_stream.c and claude_handle_assistant.c output of the model, claude_message.c
 * and claude_block.c its messages and blocks, claude_answer.c committed text, claude_tool.c tools,
 * claude_request.c questions, claude_notice.c other events, claude_result.c results,
 * claude_background.c the end of a turn, claude_turns.c the start of the next one. qwen.c reads a
 * variant of these lines.
 *
 * Ids. Each text or thinking block of a message has its own id, "<message id>#<index>", which
 * narration and thinking contain; a notice{retracted} names this id, so that a connector withdraws
 * only that piece. If a piece is emitted again afterwards, "~1" is appended to its id. message,
 * tool_call and final contain only the id of the message. Messages without an id get the ids
 * message-1, message-2…
 *
 * A streamed block is provisional. The assistant line that repeats it commits it; in a stream
 * without such lines, the successful end of its message does. Other blocks are retracted. */
#ifndef DIALECT_CLAUDE_CLAUDE_H
#define DIALECT_CLAUDE_CLAUDE_H

#include "dialect/claude/claude_line.h"
#include "dialect/claude/claude_line_cache.h"
#include "dialect/dialect_list.h"
#include "dialect/reader/step_counter.h"
#include "dialect/reader/value.h"

#define CLAUDE_TEXT_MAX ((size_t)32 << 20)        /* limit for text or arguments of one block */
#define CLAUDE_STRUCTURED_MAX ((size_t)256 << 10) /* a tool's structured result */
#define CLAUDE_BLOCKS_MAX 1024                    /* blocks of one message */
#define CLAUDE_LANES 16                           /* limit of sub-agents at the same time */
#define CLAUDE_IDS 16                             /* limit of remembered ids of each kind */
#define CLAUDE_TOLD 64                            /* committed pieces that can still be retracted */
#define CLAUDE_SEGMENTS 256                       /* pieces of one answer */
#define CLAUDE_EARLY_MAX ((size_t)256 << 10)      /* bytes of lines kept until the start */
#define CLAUDE_TASK_SHOWN 80                      /* bytes of the description of a task */
#define CLAUDE_UUID 40
#define CLAUDE_CODE 64

enum claude_block_kind {
    CLAUDE_BLOCK_TEXT,
    CLAUDE_BLOCK_THINKING,
    CLAUDE_BLOCK_TOOL,
    CLAUDE_BLOCK_OTHER
};

enum claude_block_state {
    CLAUDE_BLOCK_OPEN,
    CLAUDE_BLOCK_STOPPED, /* ended, and neither committed nor retracted */
    CLAUDE_BLOCK_COMMITTED,
    CLAUDE_BLOCK_DROPPED,
};

struct claude_block {
    int64_t index;
    enum claude_block_kind kind;
    enum claude_block_state state;
    uint16_t pending;       /* high surrogate that waits for the low one */
    bool sealed;            /* signature or encrypted data was emitted */
    size_t told;            /* bytes of text that were emitted */
    struct buf text;        /* text, thinking or argument JSON so far */
    struct buf id;          /* id for events; of a tool: its tool_use_id */
    struct buf name, input; /* for a tool: name, and the arguments of its start (JSON) */
    char uuid[CLAUDE_UUID]; /* line that committed it */
};

/* The current message of a lane. Buffers are reused. */
struct claude_message {
    struct buf id, source, model; /* source: its id in the stream, if any */
    bool started;                 /* message_start was seen */
    bool ended;                   /* the message has a stop reason */
    bool cut; /* the output limit was reached: the next message continues its text */
    struct claude_usage usage;
    int64_t next_index;
    struct claude_block *blocks;
    size_t count, cap;
};

/* The main agent, or one sub-agent. */
struct claude_lane {
    struct buf parent_raw, parent, agent; /* empty: main */
    struct claude_message message;
    uint64_t used; /* time in lines: the least recently used lane is reused first */
};

/* The newest committed text of the main agent, from which the final is made. */
struct claude_answer {
    struct claude_segment {
        char *text; /* owned */
        size_t len;
        char uuid[CLAUDE_UUID];
    } * segments;
    size_t count, cap;
    bool stale;   /* a tool call or an empty message followed it */
    bool goes_on; /* the next message continues it */
    struct buf message_id;
};

/* Committed pieces of finished messages: a ring buffer. */
struct claude_committed {
    struct claude_piece {
        char uuid[CLAUDE_UUID];
        char *id; /* owned */
        size_t chars;
    } * pieces; /* capacity; most turns have few */
    size_t cap;
    uint64_t next;
};

/* The newest ids of a kind. */
struct claude_ids {
    char *ids[CLAUDE_IDS]; /* owned, or NULL */
    unsigned next;
};

/* A request of the CLI to its host that is unanswered according to the stream. */
struct claude_open_requests {
    struct claude_question {
        char *id, *tool_use_id; /* owned; no id: an empty slot */
        bool ask;               /* a question to the user, not a permission request */
    } slots[CLAUDE_IDS];
    unsigned next;
};

/* Interpretation of a result. */
struct claude_ending {
    struct event outcome, usage, done; /* usage: its numbers belong to the turn */
    bool has_outcome;                  /* otherwise the guard makes it from done */
    bool own;                          /* the result answers the user, not the end of a task */
    bool is_answer;                    /* the result has a text or an error; a result without them
                                          replaces nothing */
};

/* Background work after an answer, and the newest answer, which is held meanwhile. */
struct claude_work {
    struct buf tasks;   /* descriptions of background work, for people: "Count files, npm test" */
    struct buf waiting; /* last emitted description */
    size_t count;       /* number of open tasks */
    bool seen;          /* background work was seen */
    bool busy;          /* the model works: an init was seen, and no result after it */
    bool idle;          /* the session was idle after the newest result and change of tasks */
    bool wakes;         /* a wake-up is scheduled */
    bool reported;      /* a task has ended since the newest result */
    bool own;           /* a result answered the user */
    bool is_answer;     /* a result is held */
    struct shared_event *outcome, *usage, *done; /* held result; no done: none */
};

struct claude_spent {
    struct claude_usage tokens;
    double cost_usd, duration_ms; /* duration; negative: unknown */
};

#define CLAUDE_NOTHING_SPENT ((struct claude_spent){.tokens = {0, 0, -1, -1}, .duration_ms = -1})

/* Differences between the agents that write these lines. */
struct claude_profile {
    const char *dialect, *provider, *source; /* provider: or NULL */
    const char *const *start_keys;           /* members of the init line, kept in the start's x */
    int cache_counted;                       /* input tokens include cached ones */
    /* Whether the result text (escaped, without quotes) ends with an API error although the result
     * claims success. NULL: results report failures correctly. */
    bool (*is_failure)(struct str text);
    bool counts_session; /* the tokens of a result cover the whole session */
    bool splits_calls;   /* lines of one model call have separate message ids */
};

/* Session and model, as the stream names them. */
struct claude_identity {
    struct buf session_raw, session, model;
    bool told; /* the session was emitted in an event of the main agent, so the guard knows it */
};

/* The newest plan submitted for approval. */
struct claude_plan {
    struct buf id, text; /* id of its call; its text */
};

/* State before the start. */
struct claude_early {
    struct buf lines; /* newline after each */
    size_t left_out;  /* number of dropped lines */
};

/* An error line, kept until further output follows. */
struct claude_api_error {
    struct buf text;
    char code[CLAUDE_CODE];
};

/* Running totals of the session. */
struct claude_totals {
    struct claude_usage tokens_before; /* start of this turn's totals: sums of earlier turns */
    double cost_seen;                  /* before this turn */
    int64_t results, costs;            /* number of results with totals, and with costs */
    char counted_id[2][96];            /* message whose usage was emitted last: main, sub */
};

struct claude {
    const struct claude_profile *profile;
    const struct dialect_sink *out; /* id of the running call */
    const char *begun_by;           /* why the agent started a turn by itself, if known */
    bool has_uuids;                 /* messages of the user have uuids in this stream */
    bool asks_between;              /* the newest line between turns was a question */
    struct claude_shape shape;
    bool started;     /* start was emitted, or will not be */
    bool closed;      /* a result gave the outcome, and done was emitted */
    bool answered;    /* with a final or an error */
    bool echoes;      /* the stream has assistant lines that repeat blocks */
    bool interrupted; /* the agent reported an interrupt */
    struct claude_identity ident;
    struct claude_lane main;
    struct claude_lane *subs[CLAUDE_LANES]; /* owned, or NULL */
    struct claude_answer answer;
    struct claude_committed told;
    struct claude_ids denied, tasks;
    struct claude_open_requests questions;
    struct steps steps; /* calls of the model by the main agent */
    struct claude_plan plan;
    struct claude_early early;
    struct claude_work work;
    struct claude_spent spent; /* of the results of this turn */
    struct claude_totals totals;
    struct claude_api_error api_error;
    char stop_reason[CLAUDE_CODE]; /* of the newest message of the main agent */
    uint64_t lines, unnamed;
};

/* claude.c: what all of them use. */
/* Parses a valid line. */
void claude_handle_line(struct claude *c, const struct dialect_sink *out,
                        const struct claude_line *l);
void claude_end(void *state, const struct dialect_sink *out, const struct stream_end_info *end);
void claude_close(void *state);
/* Emits pending output of sub-agents, before the end of the turn. */
void claude_finish_subs(struct claude *c);
void claude_emit(struct claude *c, const struct claude_lane *lane, struct event *ev);
/* A notice with the other members of the line in x; code and text borrowed. */
void claude_notice(struct claude *c, const char *level, const char *code, const char *text,
                   struct str line);
void claude_raw(struct claude *c, const struct claude_lane *lane, const char *name,
                struct str value);
/* Copies a slice, unescaped. */
void claude_set_unescaped(struct claude *c, struct buf *to, struct str raw);
void claude_copy_code(char *to, size_t size, struct str raw);
/* The text, valid while the line is handled; *len, or NULL, its length. NULL if absent. */
const char *claude_unescape(struct claude *c, struct str raw, size_t *len);
char *claude_text(struct claude *c, struct str value); /* text of a string value, or NULL */
void claude_ids_add(struct claude_ids *ids, const char *id);
bool claude_ids_remove(struct claude_ids *ids, const char *id); /* removes it, too */
bool claude_ids_has(const struct claude_ids *ids, const char *id);

/* claude_stream.c, claude_handle_assistant.c */
void claude_stream_event(struct claude *c, struct claude_lane *lane, const struct claude_line *l);
void claude_handle_assistant(struct claude *c, struct claude_lane *lane,
                             const struct claude_line *l);

/* claude_message.c */
void claude_message_begin(struct claude *c, struct claude_lane *lane, const struct claude_line *l);
/* The message has ended normally, with that reason. */
void claude_message_stopped(struct claude *c, struct claude_lane *lane, struct str reason);
/* Emits its usage, once, however many lines repeat it. */
void claude_message_count(struct claude *c, struct claude_lane *lane,
                          const struct claude_usage *usage);
/* Retracts its uncommitted blocks. */
void claude_message_drop_open(struct claude *c, struct claude_lane *lane);
/* Keeps the text that people have read. */
void claude_message_retain_open_text(struct claude *c, struct claude_lane *lane);
/* Emits the message if it has committed content, and clears it. */
void claude_message_finish(struct claude *c, struct claude_lane *lane);
/* Ends the open step, if any. */
void claude_step_end(struct claude *c);
void claude_lane_fini(struct claude_lane *lane);

/* claude_block.c */
enum claude_block_kind claude_block_kind_of(struct str type);
/* Appends a block; NULL: the message has too many. */
struct claude_block *claude_block_add(struct claude_message *m, enum claude_block_kind kind,
                                      int64_t index);
struct claude_block *claude_block_at(struct claude_message *m, int64_t index);
/* Whether it is neither committed nor retracted. */
bool claude_block_is_waiting(const struct claude_block *b);
/* Returns the first uncommitted block of that kind; for tools, the block with that id. */
struct claude_block *claude_block_find(struct claude *c, struct claude_message *m,
                                       enum claude_block_kind kind, struct str id);
/* Adds to a text or thinking block and emits the addition. */
void claude_block_append(struct claude *c, const struct claude_lane *lane, struct claude_block *b,
                         const char *text, size_t len);
/* Adds raw text to any block, joining surrogates that were split between two pieces. */
void claude_block_append_raw(struct claude *c, const struct claude_lane *lane,
                             struct claude_block *b, struct str raw);
/* Emits signature or encrypted data of thinking, once. */
void claude_block_set_signature(struct claude *c, const struct claude_lane *lane,
                                struct claude_block *b, struct str data);
/* Commits the streamed text unchanged. */
void claude_block_commit(struct claude *c, struct claude_lane *lane, struct claude_block *b);
/* Emits the streamed call of a tool_use_id, if it was not emitted yet. */
void claude_settle_tool(struct claude *c, struct claude_lane *lane, struct str id);

/* claude_answer.c */
/* Takes over committed blocks of the message; texts move to the answer. */
void claude_answer_store_message(struct claude *c, struct claude_message *m);
/* The answer's text in scratch memory; NULL: none. */
const char *claude_answer_text(struct claude *c, size_t *len);
void claude_retract(struct claude *c, const struct claude_lane *lane, struct claude_block *b);
/* Retracts every piece that lines with these uuids committed (a JSON array of strings). */
void claude_retract_lines(struct claude *c, struct str uuids);
void claude_answer_fini(struct claude_answer *a);
void claude_told_fini(struct claude_committed *t);

/* claude_tool.c */
void claude_tool_preparing(struct claude *c, const struct claude_lane *lane,
                           const struct claude_block *b);
void claude_tool_args(struct claude *c, const struct claude_lane *lane,
                      const struct claude_block *b, const char *piece, size_t len);
void claude_tool_cancelled(struct claude *c, const struct claude_lane *lane,
                           const struct claude_block *b);
/* Emits the call of the assistant line. */
void claude_tool_call(struct claude *c, const struct claude_lane *lane,
                      const struct claude_content *content, const char *uuid);
/* Emits the streamed call. */
void claude_tool_call_streamed(struct claude *c, const struct claude_lane *lane,
                               const struct claude_block *b);
/* A result: in a user line, or of a server tool in an assistant line. */
void claude_tool_result(struct claude *c, const struct claude_lane *lane,
                        const struct claude_content *content, const struct claude_line *l);

/* claude_request.c */
void claude_control_request(struct claude *c, const struct claude_line *l);
void claude_control_cancel(struct claude *c, const struct claude_line *l);
/* The tool has a result, so its request was answered. */
void claude_request_settled(struct claude *c, const char *tool_use_id, const char *outcome,
                            bool is_error);
void claude_questions_fini(struct claude_open_requests *q);
/* A call was emitted: keeps the plan of ExitPlanMode until approval is requested. */
void claude_plan_store(struct claude *c, const struct tc_tool_call *call);
/* A reply of the CLI to a request of the host. */
void claude_control_response(struct claude *c, const struct claude_line *l);

/* claude_notice.c */
void claude_handle_system(struct claude *c, const struct claude_line *l);
void claude_tool_progress(struct claude *c, const struct claude_line *l);
void claude_rate_limit(struct claude *c, const struct claude_line *l);
/* An error line followed by further output was not the end. */
void claude_api_error_passed(struct claude *c);

/* claude_result.c */
void claude_result(struct claude *c, const struct claude_line *l);
/* The result is missing: the newest text is the answer. */
void claude_result_handle_truncated(struct claude *c);
/* The agent was stopped before a result: its newest text, if any, is the answer. */
void claude_result_cancelled(struct claude *c);
/* Tokens that the results of the next turn include. */
struct claude_usage claude_result_tokens(const struct claude *c);
/* Emits it as the end of the turn. */
void claude_ending_emit(struct claude *c, struct claude_ending *e);

/* claude_turns.c: see struct dialect. */
enum dialect_begin claude_begins(const void *state, struct str line);
void claude_next(void *state, bool by_agent);
bool claude_between(void *state, const struct dialect_sink *out, const char *line, size_t len);

/* Whether the init lists messages of the user. */
bool claude_answers_user(struct str init);

/* claude_background.c */
/* Emits the ending, or holds it while work is open. */
void claude_work_result(struct claude *c, const struct claude_ending *e);
void claude_work_init(struct claude *c);
void claude_work_tasks(struct claude *c, const struct claude_line *l);
void claude_work_reported(struct claude *c);
void claude_work_state(struct claude *c, const struct claude_line *l);
void claude_work_lifecycle(struct claude *c, const struct claude_line *l);
/* The structured result of a tool, which may have scheduled a wake-up. */
void claude_work_scheduled(struct claude *c, struct str tool_use_result);
enum dialect_work claude_work_now(void *state);
/* Emits the held result, and reports the work that was not waited for. */
void claude_work_settle(void *state, const struct dialect_sink *out);
void claude_work_fini(struct claude_work *w);

#endif
