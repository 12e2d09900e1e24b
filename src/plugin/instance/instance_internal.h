/* SPDX-License-Identifier: MIT
 * Internal structures of an instance, for its own files and the host services. */
#ifndef PLUGIN_INSTANCE_INSTANCE_INTERNAL_H
#define PLUGIN_INSTANCE_INSTANCE_INTERNAL_H

#include <pthread.h>

#include "base/arena.h"
#include "base/bytes/buf.h"
#include "chat/chat_engine.h"
#include "dialect/writer/writer.h"
#include "plugin/chaos/chaos.h"
#include "plugin/instance/instance.h"
#include "plugin/instance/wake_heap.h"
#include "plugin/runtime_secrets.h"
#include "plugin/stored_texts.h"

#define CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define INSTANCE_SOCKETS 16 /* limit of open turns */
#define INSTANCE_HOLDS ((size_t)1024)

struct instance_turn {
    uint32_t magic;
    struct tc_turn handle; /* the struct that the plugin gets */
    struct instance *in;
    struct instance_turn *next, *prev; /* live turns; next also links ended ones */
    void *state;
    struct arena arena; /* memory of tc_alloc and tc_keep */
    struct wake_node wake, chat_wake;
    struct chat_turn *chat;         /* of a chat connector; or NULL */
    size_t requests;                /* requests without their last reply, and held events */
    bool done;                      /* no more events */
    char *memory;                   /* text of tc_remember; NULL: none. Owned */
    const struct event *delivering; /* the event of the current callback; NULL outside of
                                     * callbacks */
    int64_t held;                   /* number of the hold of `delivering`; 0: none */
    struct writer_stream writing;   /* state for tc_encode */
    struct buf encoded;
};

/* An event that the plugin completes after its callback has returned (tc_hold). */
struct instance_hold {
    int64_t number; /* number known to the plugin */
    uint64_t task;  /* task number of the transport */
    struct instance_turn *turn;
    bool is_outcome; /* releasing the event settles its row in the journal */
};

/* Events that the plugin holds until a program has acknowledged them (tc_hold). */
struct instance_holds {
    struct instance_hold *held; /* oldest first */
    size_t n;
    int64_t last_number;
    uint64_t task;                 /* current task */
    bool has_released;             /* turns may have ended since the last instance_take_released */
    bool is_paused;                /* tc_pause */
    int watched[INSTANCE_WATCHED]; /* descriptors of tc_watch */
    size_t n_watched;
};

struct instance_socket {
    int64_t number; /* 0: free */
    bool open, closing;
    bool is_link; /* the websocket of tc_link_keep */
};

struct instance_sockets {
    struct instance_socket all[INSTANCE_SOCKETS];
    int64_t last_number;
    size_t framed;              /* bytes that the callback sent */
    struct instance_link *link; /* the websocket that is kept open; or NULL */
};

struct instance {
    uint32_t magic;
    struct tc_instance handle; /* the struct that the plugin gets */
    const struct loaded_plugin *loaded;
    struct channel_callbacks host;
    char *name, *label;
    enum language language; /* language of texts for people; set during calls */
    void *conf, *state;
    struct arena arena; /* owns the strings of the options */
    pthread_t thread;   /* thread of its callbacks, which called init */
    bool wanted[TC_KINDS];
    struct instance_turn context;
    struct instance_turn *turns;
    struct instance_ended {
        struct instance_turn *list; /* newest first */
        size_t count;
    } over;
    struct arena scratch;           /* results of services; until the callback returns */
    struct callback_batch *sending; /* output of the current callback, or NULL */
    struct instance_memory {
        size_t remembering;                  /* turns with a memory to pass on */
        struct stored_texts stored, changed; /* changes since the last batch */
    } memory;
    uint64_t last_request;
    struct instance_wakes {
        struct wake_heap plugin, chat;
    } wakes;
    struct chat *chat; /* of a chat connector; or NULL */
    struct instance_sockets sockets;
    struct instance_issuer *issuers; /* issuers of routes with signed requests; or NULL */
    struct instance_holds holds;
    struct runtime_secrets secrets;
    struct status_page *status, own_status;
    struct instance_failures {
        unsigned refused;    /* refused services as bits: each logged once */
        int64_t quiet_until; /* failures before this time are only counted */
        uint64_t unsaid;
    } failures;
    struct chaos *chaos;          /* or NULL */
    struct shared_event *casting; /* event being delivered; NULL: none */
};

/* instance.c: bit mask of the kinds for which its linked code has a function. */
void instance_find_handled_kinds(struct instance *in);

/* instance_turn.c */
void instance_context_init(struct instance *in);
void instance_context_fini(struct instance *in);
/* Verifies handles passed by a plugin. NULL: the handle is of an ended turn, invalid, or this is
 * not the instance's thread; logged with the service and the current callback. */
struct instance_turn *instance_check_turn(struct tc_turn *turn, const char *service);
/* Returns the instance of an instance's handle. */
struct instance *instance_check_thread(struct tc_instance *inst, const char *service);
/* NULL: no instance. Any thread. */
struct instance *instance_check(struct tc_instance *inst);

/* instance_chat.c: the engine of a chat connector. */
/* Call it after the code of the plugin is linked, before its init. No effect without a chat
 * table. */
void instance_chat_init(struct instance *in);
/* 0, or -1: a message about the event could not be sent to the chat. */
int instance_chat_take_event(struct instance_turn *t, const struct event *ev);

/* The text value of a configured option, NULL: not set. ctx: the instance. */
const char *instance_chat_read_option(void *ctx, const char *key);

/* instance_issuer.c: routes with signed requests. */
/* Whether to pass the request to the plugin; for a signed route, it then has claims and key.
 * Otherwise the response is filled in, possibly with `later` set. */
bool instance_issuer_check_hit(struct instance *in, struct tc_hit *hit, struct tc_answer *answer);
/* Whether the reply belongs to a request for keys. */
bool instance_issuer_handle_reply(struct instance *in, const struct tc_reply *reply,
                                  const struct tc_verdict *verdict);
void instance_issuers_free(struct instance *in);

/* instance_link.c: the websocket that is kept open. */
/* The time at which the link's timer expires, clock_mono_ms; INT64_MAX: no timer is set. */
int64_t instance_link_next_ms(const struct instance *in);
/* Does what is due when the timer has expired. */
void instance_link_wake(struct instance *in);
/* Handles a frame of one of the link's connections. True: the caller passes the frame to the
 * plugin, and then calls instance_link_end_frame. */
bool instance_link_begin_frame(struct instance *in, const struct tc_frame *frame);
void instance_link_end_frame(struct instance *in);
/* Called after on_reply. If the reply was expected to contain the address, and the plugin has
 * opened no connection, the link tries again later. */
void instance_link_handle_reply(struct instance *in, const struct tc_reply *reply,
                                const struct tc_verdict *verdict);
void instance_link_free(struct instance *in);

/* instance_call.c: passes a request that has waited to the plugin, and answers it. */
void instance_call_on_waiting_hit(struct instance *in, const struct tc_hit *hit);

/* instance_batch.c: what a callback sends. */
/* 0, or -1 with the reason. */
int instance_add_request(struct instance_turn *t, const struct tc_http *http, const char **why);
/* Removes the current callback's requests for that turn from its batch. Owned. */
struct callback_batch *instance_take_requests(const struct instance_turn *t);
int instance_add_result(struct instance *in, uint64_t number,
                        const struct tc_completion *completion, const char **why);
void instance_set_memory(struct instance_turn *t, const char *text);
/* The row that the callback of t settles. */
struct callback_outcome {
    enum batch_settlement what;
    bool failed;
    uint64_t request;
    struct tc_verdict verdict; /* borrowed */
};
/* The callback has returned. */
void instance_commit_batch(struct instance_turn *t, const struct callback_outcome *s);

/* Sets defaults; returns an error, or NULL. */
const char *instance_complete_answer(struct tc_answer *answer);

/* services_hold.c: the callback of an event has failed, which cancels its hold. */
void instance_drop_hold(struct instance_turn *t);

/* services_hold.c */
bool instance_is_watched(const struct instance *in, int fd);

/* instance_encode_event.c: encodes the current event in another format; see tc_encode. The turn
 * must have been checked. */
const char *instance_encode_event(struct instance_turn *t, const struct tc_format *format,
                                  size_t *len);

/* Finds a socket by the plugin's number; NULL: unknown. */
struct instance_socket *instance_socket_find(struct instance *in, int64_t number);

#endif
