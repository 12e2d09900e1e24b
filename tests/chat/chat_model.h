/* SPDX-License-Identifier: MIT
 * A turn at a chat service, as t_chat_model explores it: what the service shows, what may still
 * arrive late, what the engine knows and what is on disk. */
#ifndef TESTS_CHAT_CHAT_MODEL_H
#define TESTS_CHAT_CHAT_MODEL_H

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "chat/operation/chat_delivery.h"
#include "chat/show/chat_live_state.h"
#include "chat/stream/chat_native_state.h"
#include "tap/tap.h"

#define MESSAGES 12
#define LATE 5
#define KEYS 24
#define FINAL_KEY 8 /* keys of the outcome begin here; those of the progress message at 0 */
#define CREATING 0xff

#define STREAMS 2 /* begins of one turn */

enum { LIVE_MESSAGE = 1, FINAL_MESSAGE, STREAM_MESSAGE };
enum { FIRST_HALF = 1, SECOND_HALF = 2, BOTH_HALVES = 3 };
enum { OP_CREATE, OP_EDIT, OP_APPEND, OP_END };
enum { FLIGHT_NONE, FLIGHT_BEGIN, FLIGHT_APPEND };
enum { CLEAN_NOTHING, CLEAN_DELETE, CLEAN_LEARN };

struct shown {
    uint8_t kind, marked; /* kind 0: deleted */
    uint8_t halves;       /* of a stream: the halves of the answer that it shows */
    uint8_t open;         /* the stream has not ended */
    uint8_t known;        /* the engine was told its id */
    uint8_t keyed;        /* the stream was ended with the key of the answer */
};

struct late_op {
    uint8_t how, at, key; /* at: index + 1 of the message */
    struct shown what;
};

/* Ids are indexes + 1; 0: none. All members are bytes, so that states compare as memory. */
struct world {
    struct shown shown[MESSAGES];
    uint8_t count, keys[KEYS];
    struct late_op late[LATE];
    uint8_t late_count;
    uint8_t live, id, memory, creates, repeat, gone; /* repeat: the create goes out again */
    uint8_t doubt, confirm, confirm_marked;
    uint8_t row, row_state, row_marked, row_doubts, row_generation, row_message, row_live, row_omit;
    uint8_t row_confirm;
    uint8_t clean, clean_id;
    uint8_t stream, stream_id, stream_memory, begins; /* the open stream */
    uint8_t flight, told, confirmed, incomplete, full, stream_gone;
    uint8_t append; /* of the append under way at the end: enum chat_delivery_shown + 1 */
    uint8_t row_streamed, row_append, row_halves, row_stream;
    uint8_t close[2]; /* durable ends: with the outcome; of a stream that was left */
    uint8_t append_doubt;
    uint8_t ended, dead, refused, began, faults, kills, doubts, hard;
};

/* The service, and which rules are left out to see that they are needed. */
struct setup {
    enum tc_idempotency idempotency;
    bool finalize_edit, can_edit;
    bool no_confirm, no_creating, no_mark;
    bool streams, no_incomplete, no_beside, no_memory, no_gone;
};

/* What must not be at rest. */
enum broken {
    NOWHERE,  /* the outcome is neither visible nor a dead letter */
    GIVEN_UP, /* a dead letter although there was another attempt */
    UNMARKED, /* two copies without a mark */
    TWICE,    /* two copies at an exact service */
    TOO_MANY, /* more copies than doubts */
    LEFT,     /* a progress message is left */
    WHOLE,    /* nothing */
};

struct explored {
    struct world *worlds;
    size_t count, cap, done, *table, table_size, rests;
    struct setup setup;
    unsigned broken; /* a bit for each */
};

/* ---- t_chat_model.c ---- */

/* Adds the world unless it is known already. */
void model_add_world(struct explored *e, const struct world *w);
/* The service executes it. */
void model_arrive(const struct explored *e, struct world *w, const struct late_op *op);
/* The reply to an operation is lost: the operation was executed, was not, or will be later. `next`
 * continues. */
void model_lose(struct explored *e, const struct world *w, const struct late_op *op,
                void (*next)(struct explored *, struct world *));
void model_add_killed(struct explored *e, const struct world *w);
bool model_is_open(const struct world *w, uint8_t id);
void model_append(struct world *w, uint8_t id, const struct shown *what, bool ends);
/* A result of the outcome on its way, decided by the engine. */
void model_take(struct explored *e, const struct world *w, enum tc_result_kind kind, bool answered);
void model_take_lost(struct explored *e, struct world *w);
void model_take_unclear(struct explored *e, struct world *w);
void model_kill_host(struct explored *e, struct world *w);
void model_end_turn(struct explored *e, struct world *w);

/* ---- chat_model_stream.c ---- */

void model_move_stream(struct world *w, enum chat_native_event event);
/* The outcome comes: the stream is ended with it, or without. */
void model_end_streams(const struct explored *e, struct world *w);
/* The outcome is sent as messages, in place of the end of a stream. */
void model_send_whole(struct world *w, const struct chat_record *r, enum tc_result_kind kind,
                      bool no_mark);
void model_step_flight(struct explored *e, const struct world *w);
void model_step_streams(struct explored *e, const struct world *w);
void model_step_ending(struct explored *e, const struct world *w);
void model_step_close(struct explored *e, const struct world *w);
/* A stream was ended with the key of the answer. */
bool model_is_streamed(const struct world *w);

#endif
