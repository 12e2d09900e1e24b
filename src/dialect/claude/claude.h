/* SPDX-License-Identifier: MIT
 * State of the claude dialect (stream-json of `claude -p`), shared by its files:
 * claude.c the life of a stream, claude_stream.c and claude_handle_assistant.c what the model says,
 * claude_message.c and claude_block.c what is known of it, claude_answer.c what was committed,
 * claude_tool.c tools, claude_request.c questions, claude_notice.c everything around them,
 * claude_result.c what a result says, claude_background.c when the turn is over, claude_turns.c
 * where the next one begins. qwen.c reads its own flavour of the same lines.
 *
 * Ids. Each text or thinking block of a message has an id of its own, "<message id>#<index>":
 * narration and thinking carry it, and a notice{retracted} names it, so that a connector takes
 * back just that piece. A piece that is told anew after that has "~1" behind its id. message,
 * tool_call and final carry the message's id alone. Messages without an id of their own are
 * called message-1, message-2…
 *
 * A streamed block is provisional. It is committed by the assistant line that repeats it; in a
 * stream without such lines, when its message ends well. Whatever is not is taken back. */
#ifndef DIALECT_CLAUDE_CLAUDE_H
#define DIALECT_CLAUDE_CLAUDE_H

#include "dialect/claude/claude_line.h"
#include "dialect/claude/claude_line_cache.h"
#include "dialect/dialect_list.h"
#include "dialect/reader/step_counter.h"
#include "dialect/reader/value.h"

#define CLAUDE_TEXT_MAX ((size_t)32 << 20)        /* text or arguments of one block */
#define CLAUDE_STRUCTURED_MAX ((size_t)256 << 10) /* a tool's structured result */
#define CLAUDE_BLOCKS_MAX 1024                    /* blocks of one message */
#define CLAUDE_LANES 16                           /* sub-agents at work at once */
#define CLAUDE_IDS 16                             /* ids remembered of each sort */
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
    CLAUDE_BLOCK_STOPPED, /* it ended, and nothing said yet whether it counts */
    CLAUDE_BLOCK_COMMITTED,
    CLAUDE_BLOCK_DROPPED,
};

struct claude_block {
    int64_t index;
    enum claude_block_kind kind;
    enum claude_block_state state;
    uint16_t pending;       /* high surrogate that waits for its other half */
    bool sealed;            /* its signature or encrypted data was told */
    size_t told;            /* bytes of text that were told */
    struct buf text;        /* text, thinking or argument JSON so far */
    struct buf id;          /* id of what is told; of a tool: its tool_use_id */
    struct buf name, input; /* of a tool: name, and the arguments its start gave (JSON) */
    char uuid[CLAUDE_UUID]; /* line that committed it */
};

/* The message a lane is at. Buffers are reused from message to message. */
struct claude_message {
    struct buf id, source, model; /* source: its id in the stream, if it has one */
    bool started;                 /* message_start was seen */
    bool ended;                   /* it gave a stop reason */
    bool cut; /* it ran into the output limit: the next one goes on with its text */
    struct claude_usage usage;
    int64_t next_index;
    struct claude_block *blocks;
    size_t count, cap;
};

/* The main agent, or one sub-agent. */
struct claude_lane {
    struct buf parent_raw, parent, agent; /* empty: main */
    struct claude_message message;
    uint64_t used; /* when, in lines: the least used lane is given up first */
};

/* The newest committed text of the main agent: what the final is made of. */
struct claude_answer {
    struct claude_segment {
        char *text; /* owned */
        size_t len;
        char uuid[CLAUDE_UUID];
    } * segments;
    size_t count, cap;
    bool stale;   /* a tool call or an empty message came after it */
    bool goes_on; /* the next message continues it */
    struct buf message_id;
};

/* Committed pieces of finished messages: a ring. */
struct claude_committed {
    struct claude_piece {
        char uuid[CLAUDE_UUID];
        char *id; /* owned */
        size_t chars;
    } * pieces; /* as many as it had; most turns have few */
    size_t cap;
    uint64_t next;
};

/* A few ids, the newest ones. */
struct claude_ids {
    char *ids[CLAUDE_IDS]; /* owned, or NULL */
    unsigned next;
};

/* What the CLI asked its host and has no answer to, as far as the stream tells. */
struct claude_open_requests {
    struct claude_question {
        char *id, *tool_use_id; /* owned; no id: an empty slot */
        bool ask;               /* of the user, not for permission */
    } slots[CLAUDE_IDS];
    unsigned next;
};

/* What a result comes to. */
struct claude_ending {
    struct event outcome, usage, done; /* usage: its numbers are those of the turn */
    bool has_outcome;                  /* else the guard makes it of done */
    bool own;                          /* it answers the user, not the end of a task */
    bool is_answer;                    /* it has a text or an error: one without takes no place */
};

/* What runs on behind an answer, and the newest answer, which is held meanwhile. */
struct claude_work {
    struct buf tasks;   /* what runs in the background, for people: "Count files, npm test" */
    struct buf waiting; /* what was told last of them */
    size_t count;       /* of these */
    bool seen;          /* something ran in the background */
    bool busy;          /* the model works: init was seen, and no result after it */
    bool idle;          /* the session was, after the newest result and change of tasks */
    bool wakes;         /* the agent will wake up by itself */
    bool reported;      /* a task has ended since the newest result */
    bool own;           /* a result answered the user */
    bool is_answer;     /* what is held is one */
    struct shared_event *outcome, *usage, *done; /* held; no done: nothing is */
};

struct claude_spent {
    struct claude_usage tokens;
    double cost_usd, duration_ms; /* duration: negative: not told */
};

#define CLAUDE_NOTHING_SPENT ((struct claude_spent){.tokens = {0, 0, -1, -1}, .duration_ms = -1})

/* What tells the agents apart that write these lines. */
struct claude_profile {
    const char *dialect, *provider, *source; /* provider: or NULL */
    const char *const *start_keys;           /* of the init line, kept in the start's x */
    int cache_counted;                       /* its input tokens include those from a cache */
    /* The result text (escaped, without quotes) ends with an error of the API, although the result
     * claims success. NULL: results say themselves whether they failed. */
    bool (*is_failure)(struct str text);
    bool counts_session; /* the tokens of a result are those of the whole session */
    bool splits_calls;   /* the lines of one model call have message ids of their own */
};

/* Session and model, as the stream names them. */
struct claude_identity {
    struct buf session_raw, session, model;
    bool told; /* the session, by an event of the main agent: the guard knows it */
};

/* The newest plan that was handed in. */
struct claude_plan {
    struct buf id, text; /* of its call; its text */
};

/* What came before the start. */
struct claude_early {
    struct buf lines; /* newline after each */
    size_t left_out;  /* lines that did not fit */
};

/* An error line, until something goes on after it. */
struct claude_api_error {
    struct buf text;
    char code[CLAUDE_CODE];
};

/* Running totals of the session. */
struct claude_totals {
    struct claude_usage tokens_before; /* where they count: of the turns before this one */
    double cost_seen;                  /* before this turn */
    int64_t results, costs;            /* how many said where they stand, what they cost */
    char counted_id[2][96];            /* message whose usage was told last: main, sub */
};

struct claude {
    const struct claude_profile *profile;
    const struct dialect_sink *out; /* of the call that runs */
    const char *begun_by; /* why a turn began that no user asked for, as far as it is known */
    bool has_uuids;       /* messages of the user have them in this stream */
    bool asks_between;    /* the newest line between turns was a question */
    struct claude_shape shape;
    bool started;     /* start was told, or will not be */
    bool closed;      /* a result gave the outcome: done was told */
    bool answered;    /* with a final or an error */
    bool echoes;      /* the stream has assistant lines that repeat blocks */
    bool interrupted; /* the agent noted an interrupt */
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
/* The whole reading of a line that is one. */
void claude_handle_line(struct claude *c, const struct dialect_sink *out,
                        const struct claude_line *l);
void claude_end(void *state, const struct dialect_sink *out, const struct stream_end_info *end);
void claude_close(void *state);
/* What sub-agents have said is told: before the end of the turn. */
void claude_finish_subs(struct claude *c);
void claude_emit(struct claude *c, const struct claude_lane *lane, struct event *ev);
/* A notice with the rest of the line in x; code and text borrowed. */
void claude_notice(struct claude *c, const char *level, const char *code, const char *text,
                   struct str line);
void claude_raw(struct claude *c, const struct claude_lane *lane, const char *name,
                struct str value);
/* Copies a slice, unescaped. */
void claude_set_unescaped(struct claude *c, struct buf *to, struct str raw);
void claude_copy_code(char *to, size_t size, struct str raw);
/* Its text, as long as the line is handled; *len, or NULL, its length. Absent gives NULL. */
const char *claude_unescape(struct claude *c, struct str raw, size_t *len);
char *claude_text(struct claude *c, struct str value); /* of a value that is a string, or NULL */
void claude_ids_add(struct claude_ids *ids, const char *id);
bool claude_ids_take(struct claude_ids *ids, const char *id); /* forgets it, too */
bool claude_ids_has(const struct claude_ids *ids, const char *id);

/* claude_stream.c, claude_handle_assistant.c */
void claude_stream_event(struct claude *c, struct claude_lane *lane, const struct claude_line *l);
void claude_handle_assistant(struct claude *c, struct claude_lane *lane,
                             const struct claude_line *l);

/* claude_message.c */
void claude_message_begin(struct claude *c, struct claude_lane *lane, const struct claude_line *l);
/* It has ended by itself, for that reason. */
void claude_message_stopped(struct claude *c, struct claude_lane *lane, struct str reason);
/* Tells its usage, once, however many lines repeat it. */
void claude_message_count(struct claude *c, struct claude_lane *lane,
                          const struct claude_usage *usage);
/* Takes back what it has not committed. */
void claude_message_drop_open(struct claude *c, struct claude_lane *lane);
/* What people have read of its text stays. */
void claude_message_keep_open(struct claude *c, struct claude_lane *lane);
/* Tells it, if anything of it counts, and clears it. */
void claude_message_finish(struct claude *c, struct claude_lane *lane);
/* The step that is open, if there is one, has ended. */
void claude_step_end(struct claude *c);
void claude_lane_fini(struct claude_lane *lane);

/* claude_block.c */
enum claude_block_kind claude_block_kind_of(struct str type);
/* A fresh block behind the others; NULL: the message has too many. */
struct claude_block *claude_block_add(struct claude_message *m, enum claude_block_kind kind,
                                      int64_t index);
struct claude_block *claude_block_at(struct claude_message *m, int64_t index);
/* Nothing has said yet whether it counts. */
bool claude_block_is_waiting(const struct claude_block *b);
/* The first waiting block of that kind; of tools, the one with that id. */
struct claude_block *claude_block_find(struct claude *c, struct claude_message *m,
                                       enum claude_block_kind kind, struct str id);
/* Adds to a text or thinking block and tells it. */
void claude_block_append(struct claude *c, const struct claude_lane *lane, struct claude_block *b,
                         const char *text, size_t len);
/* Adds raw text to any block, joining surrogates that were split between two pieces. */
void claude_block_append_raw(struct claude *c, const struct claude_lane *lane,
                             struct claude_block *b, struct str raw);
/* Tells signature or encrypted data of thinking, once. */
void claude_block_set_signature(struct claude *c, const struct claude_lane *lane,
                                struct claude_block *b, struct str data);
/* What streamed counts as it is. */
void claude_block_commit(struct claude *c, struct claude_lane *lane, struct claude_block *b);
/* Tells the call of a tool_use_id whose arguments streamed, if it was not told yet. */
void claude_settle_tool(struct claude *c, struct claude_lane *lane, struct str id);

/* claude_answer.c */
/* Takes what the message committed; texts move to the answer. */
void claude_answer_take(struct claude *c, struct claude_message *m);
/* The answer's text in scratch memory; NULL: there is none. */
const char *claude_answer_text(struct claude *c, size_t *len);
void claude_retract(struct claude *c, const struct claude_lane *lane, struct claude_block *b);
/* Takes back every piece that lines with these uuids committed (a JSON array of strings). */
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
/* The call as the assistant line has it. */
void claude_tool_call(struct claude *c, const struct claude_lane *lane,
                      const struct claude_content *content, const char *uuid);
/* The call as it streamed. */
void claude_tool_call_streamed(struct claude *c, const struct claude_lane *lane,
                               const struct claude_block *b);
/* A result: of a user line, or a server tool's in an assistant line. */
void claude_tool_result(struct claude *c, const struct claude_lane *lane,
                        const struct claude_content *content, const struct claude_line *l);

/* claude_request.c */
void claude_control_request(struct claude *c, const struct claude_line *l);
void claude_control_cancel(struct claude *c, const struct claude_line *l);
/* The tool has a result: whoever was asked about it has answered. */
void claude_request_settled(struct claude *c, const char *tool_use_id, const char *outcome,
                            bool is_error);
void claude_questions_fini(struct claude_open_requests *q);
/* A call was told: the plan that ExitPlanMode hands in is kept until it is asked about. */
void claude_plan_remember(struct claude *c, const struct tc_tool_call *call);
/* What the CLI thinks of a request of the host. */
void claude_control_response(struct claude *c, const struct claude_line *l);

/* claude_notice.c */
void claude_handle_system(struct claude *c, const struct claude_line *l);
void claude_tool_progress(struct claude *c, const struct claude_line *l);
void claude_rate_limit(struct claude *c, const struct claude_line *l);
/* An error line that something came after: it was not the end. */
void claude_api_error_passed(struct claude *c);

/* claude_result.c */
void claude_result(struct claude *c, const struct claude_line *l);
/* The result was cut off: the newest text is the answer. */
void claude_result_handle_truncated(struct claude *c);
/* Somebody stopped the agent before it gave a result: its newest text is the answer, if it has one.
 */
void claude_result_cancelled(struct claude *c);
/* Tokens that the results of the next turn count, too. */
struct claude_usage claude_result_tokens(const struct claude *c);
/* Tells it as the end of the turn. */
void claude_ending_tell(struct claude *c, struct claude_ending *e);

/* claude_turns.c: as struct dialect says. */
enum dialect_begin claude_begins(const void *state, struct str line);
void claude_next(void *state, bool by_agent);
bool claude_between(void *state, const struct dialect_sink *out, const char *line, size_t len);

/* The init lists messages of the user. */
bool claude_answers_user(struct str init);

/* claude_background.c */
/* Tells the ending, or holds it while work is open. */
void claude_work_result(struct claude *c, const struct claude_ending *e);
void claude_work_init(struct claude *c);
void claude_work_tasks(struct claude *c, const struct claude_line *l);
void claude_work_reported(struct claude *c);
void claude_work_state(struct claude *c, const struct claude_line *l);
void claude_work_lifecycle(struct claude *c, const struct claude_line *l);
/* The structured result of a tool: it may have scheduled a wake-up. */
void claude_work_scheduled(struct claude *c, struct str tool_use_result);
enum dialect_work claude_work_now(void *state);
/* Tells what is held, and what was not waited for. */
void claude_work_settle(void *state, const struct dialect_sink *out);
void claude_work_fini(struct claude_work *w);

#endif
