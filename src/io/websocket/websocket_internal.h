/* SPDX-License-Identifier: MIT
 * Internal interface between the loop side and the libwebsockets thread: connection, and messages
 * in both directions. */
#ifndef IO_WEBSOCKET_WEBSOCKET_INTERNAL_H
#define IO_WEBSOCKET_WEBSOCKET_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "io/websocket/websocket.h"
#include "io/websocket/websocket_url.h"

enum { WEBSOCKET_ROOM = 32 }; /* space that libwebsockets needs before the data */

enum websocket_state { WEBSOCKET_CONNECTING, WEBSOCKET_IS_OPEN, WEBSOCKET_CLOSING, WEBSOCKET_TOLD };

/* Created and freed by the loop; the thread uses it from the order OPEN to the report GONE. */
struct websocket_conn {
    /* constant */
    struct websocket_client *owner;
    struct websocket_url url;
    int64_t ping_ms, silent_ms;
    char *headers; /* header lines of the handshake; owned */
    bool wants_binary;
    int close_status; /* of the close frame */
    /* used by the loop thread */
    LIST_ENTRY(websocket_conn) next;
    enum websocket_state state; /* TOLD: CLOSED was reported, but the thread still has it */
    websocket_event_fn *on_event;
    void *arg;
    struct loop_timer *timer; /* timeouts of connecting, of closing */
    /* bytes: written, but not yet sent; received, but not yet passed to the handler */
    atomic_size_t queued, unread;
};

enum websocket_note_kind {
    /* orders to the thread */
    WEBSOCKET_CMD_OPEN,
    WEBSOCKET_CMD_SEND,
    WEBSOCKET_CMD_SEND_BINARY,
    WEBSOCKET_CMD_CLOSE,
    WEBSOCKET_CMD_DROP,   /* closes at once */
    WEBSOCKET_CMD_RESUME, /* resumes reading */
    WEBSOCKET_CMD_STOP,   /* ends the thread */
    /* reports of the thread */
    WEBSOCKET_EVENT_OPEN,
    WEBSOCKET_EVENT_TEXT,
    WEBSOCKET_EVENT_BINARY,
    WEBSOCKET_EVENT_GONE, /* last report about a socket, with the reason */
};

struct websocket_msg {
    STAILQ_ENTRY(websocket_msg) next;
    struct websocket_conn *conn;
    enum websocket_note_kind kind;
    size_t len;
    char room[WEBSOCKET_ROOM];
    char text[]; /* NUL-terminated */
};

STAILQ_HEAD(websocket_msg_list, websocket_msg);

struct websocket_msg_queue {
    pthread_mutex_t mu;
    struct websocket_msg_list list; /* lock: mu */
};

void websocket_queue_init(struct websocket_msg_queue *q);
void websocket_queue_fini(struct websocket_msg_queue *q);
/* Copies the text. Any thread. */
void websocket_msg_queue_push(struct websocket_msg_queue *q, struct websocket_conn *c,
                              enum websocket_note_kind kind, struct str text);
/* Takes all notes, in order; the caller frees them. Sets `taken`. */
void websocket_msg_queue_take_all(struct websocket_msg_queue *q, struct websocket_msg_list *taken);
/* Leaves the list empty. */
void websocket_msg_free_all(struct websocket_msg_list *list);

struct websocket_thread;

/* Sends reports to `reports`, and writes to wake_fd. NULL with err: no library, or no thread. */
struct websocket_thread *websocket_thread_new(const char *ca_file, const struct proxy *proxy,
                                              struct websocket_msg_queue *reports, int wake_fd,
                                              struct tc_err *err);
/* Ends the thread and its sockets, without reports. */
void websocket_thread_free(struct websocket_thread *t);
/* Loop thread only. */
void websocket_thread_post(struct websocket_thread *t, struct websocket_conn *c,
                           enum websocket_note_kind kind, struct str text);

#endif
