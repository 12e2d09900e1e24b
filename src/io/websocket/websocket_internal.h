/* SPDX-License-Identifier: MIT
 * What both sides of the websockets share: a socket, and the notes between the loop's thread and
 * that of libwebsockets. */
#ifndef IO_WEBSOCKET_WEBSOCKET_INTERNAL_H
#define IO_WEBSOCKET_WEBSOCKET_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "io/websocket/websocket.h"
#include "io/websocket/websocket_url.h"

enum { WEBSOCKET_ROOM = 32 }; /* that libwebsockets wants in front of what it sends */

enum websocket_state { WEBSOCKET_CONNECTING, WEBSOCKET_IS_OPEN, WEBSOCKET_CLOSING, WEBSOCKET_TOLD };

/* Made and freed by the loop; the thread's from its order OPEN to its report GONE. */
struct websocket_conn {
    /* constant */
    struct websocket *owner;
    struct websocket_url url;
    int64_t ping_ms, silent_ms;
    /* loop thread */
    struct websocket_conn *next, **at;
    enum websocket_state state; /* TOLD: CLOSED was said, the thread still has it */
    websocket_fn *on_event;
    void *arg;
    struct loop_timer *timer; /* of connecting, of closing */
    /* bytes: written, and not yet on the wire; received, and not yet with the handler */
    atomic_size_t queued, unread;
};

enum websocket_note_kind {
    /* orders */
    WEBSOCKET_DO_OPEN,
    WEBSOCKET_DO_SEND,
    WEBSOCKET_DO_CLOSE,
    WEBSOCKET_DO_DROP,   /* at once */
    WEBSOCKET_DO_RESUME, /* reading */
    WEBSOCKET_DO_STOP,   /* the thread */
    /* reports */
    WEBSOCKET_SAYS_OPEN,
    WEBSOCKET_SAYS_TEXT,
    WEBSOCKET_SAYS_GONE, /* the last word on a socket, with the reason */
};

struct websocket_note {
    struct websocket_note *next;
    struct websocket_conn *conn;
    enum websocket_note_kind kind;
    size_t len;
    char room[WEBSOCKET_ROOM];
    char text[]; /* NUL-terminated */
};

struct websocket_queue {
    pthread_mutex_t mu;
    struct websocket_note *first, **end; /* lock: mu */
};

void websocket_queue_init(struct websocket_queue *q);
void websocket_queue_fini(struct websocket_queue *q);
/* Copies the text. Any thread. */
void websocket_queue_add(struct websocket_queue *q, struct websocket_conn *c,
                         enum websocket_note_kind kind, struct str text);
/* All of them, in order, for who takes them to free. */
struct websocket_note *websocket_queue_take(struct websocket_queue *q);
void websocket_note_free_all(struct websocket_note *first);

struct websocket_thread;

/* Reports go to `reports`, and wake_fd is told. NULL with err: no library, no thread. */
struct websocket_thread *websocket_thread_new(const char *ca_file, const struct proxy *proxy,
                                              struct websocket_queue *reports, int wake_fd,
                                              struct tc_err *err);
/* Ends the thread; all its sockets are gone, without report. */
void websocket_thread_free(struct websocket_thread *t);
/* Loop thread. */
void websocket_thread_order(struct websocket_thread *t, struct websocket_conn *c,
                            enum websocket_note_kind kind, struct str text);

#endif
