/* SPDX-License-Identifier: MIT
 * The host as one instance of a plugin sees it, in one thread and with a clock that stands still:
 * turns, lanes, batches, on_reply, wake-ups. What belongs to a callback is freed when it returns,
 * what belongs to a turn when that ends, so a sanitizer sees who keeps it. Nothing is paced. What
 * the plugin does wrong is a fault. */
#ifndef TESTS_PLUGINS_STAGE_H
#define TESTS_PLUGINS_STAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <turncast/plugin.h>

#include "base/arena.h"
#include "base/bytes/buf.h"

#define STAGE_OPTIONS_MAX 24
#define STAGE_BACKOFF_MS 1000 /* where the host would choose */

struct stage_turn {
    struct tc_turn turn; /* first: a handle is this */
    struct stage_turn *next;
    struct arena arena; /* tc_alloc, tc_keep */
    struct arena own;   /* strings of `turn` */
    size_t under_way;   /* requests */
    bool done;          /* on_done has returned, or it is only there for its requests */
    int64_t wake_at;    /* 0: none */
    uint64_t seq;
    char *memory; /* tc_remember; or NULL */
};

enum stage_state { STAGE_WAITS, STAGE_ON_WIRE, STAGE_NAMED };

/* From tc_http to its last on_reply. */
struct stage_request {
    struct stage_request *next;
    struct stage_turn *turn;
    struct tc_http http; /* strings of the arena; body_len set, tag not NULL */
    struct arena arena;
    const char *method; /* end of the URL */
    char *label;        /* or NULL */
    uint64_t place, seq, sent;
    int64_t born_ms, due_ms;
    unsigned attempts, doubts;
    enum stage_state state;
};

/* What the script has said beforehand of a tc_submit, tc_cancel or tc_answer. */
struct stage_promise {
    struct stage_promise *next;
    const char *call; /* "submit", "cancel" or "answer" */
    json_t *want;
    char *turn, *answer; /* or NULL */
    enum tc_accepted result;
    int line;
};

enum stage_note { STAGE_LOG, STAGE_DEAD, STAGE_WS_OPEN, STAGE_WS_SEND, STAGE_WS_CLOSE };

/* What the plugin did besides requests, until it is named. */
struct stage_act {
    struct stage_act *next;
    enum stage_note note;
    int level;  /* STAGE_LOG */
    char *what; /* line, URL, frame; STAGE_DEAD: method and reason */
};

struct stage_auto {
    struct stage_auto *next;
    char *method, *body; /* body NULL: not answered */
    int status;
};

struct stage {
    struct tc_instance inst; /* first */
    const struct tc_plugin *plugin;
    void *module, *conf;
    struct arena config;
    struct stage_turn *turns, lobby;
    struct stage_request *requests; /* in the order of `seq` */
    struct stage_request *batch, **batch_end;
    struct stage_promise *promises;
    struct stage_act *acts;
    struct stage_auto *autos;
    struct buf faults;
    void **scope; /* memory of the running callback */
    size_t scope_count, scope_cap;
    unsigned callbacks; /* nested: only tc_http's drops may */
    uint64_t next_seq, next_sent;
    int64_t hold_until; /* instance */
    struct stage_lane {
        struct stage_lane *next;
        char *name;
        int64_t until;
    } * held;
    int64_t sockets[16]; /* 1: open, asked; 2: open; 0: closed or never */
    int64_t socket_count;
    char *routes[8];
    size_t route_count;
    unsigned files;
    const char *stranger; /* who may not submit; or NULL; of `config` */
    const char *known;    /* "CHAT:THREAD" that goes on; or NULL; of `config` */
    bool lenient;         /* a tc_submit, tc_cancel or tc_answer nobody promised is accepted */
};

/* Milliseconds; the plugin's clocks read it too. */
extern int64_t stage_now;

struct stage *stage_new(const char *module, const char *const *options);
int stage_init(struct stage *s);
/* Host and instance die, and come again: durable requests are there, those on the wire in doubt. */
int stage_restart(struct stage *s);
void stage_free(struct stage *s);

struct stage_turn *stage_open(struct stage *s, const char *id, const char *conversation,
                              const char *route, const char *memory);
struct stage_turn *stage_find(struct stage *s, const char *id);
void stage_event(struct stage *s, struct stage_turn *t, const char *kind, const char *payload);
void stage_advance(struct stage *s, int64_t ms);
/* An attempt has ended. after_ms: of the header, or 0. Returns what on_reply decided. */
struct tc_verdict stage_reply(struct stage *s, struct stage_request *r, enum tc_outcome outcome,
                              int status, const char *body, int64_t after_ms);
struct tc_answer stage_hit(struct stage *s, const char *method, const char *path, json_t *headers,
                           const char *body);
void stage_frame(struct stage *s, int64_t socket, enum tc_socket_event event, const char *text);
/* The oldest on the wire that nothing has named. */
struct stage_request *stage_unnamed(struct stage *s, const char *method);

void stage_fault(struct stage *s, const char *fmt, ...)
    __attribute__((__format__(__printf__, 2, 3)));
void stage_note(struct stage *s, enum stage_note note, int level, const char *what);

/* For stage_services.c. */
const struct tc_host *stage_services(void);
/* Memory of the callback: one block each. */
void *stage_scope(struct stage *s, size_t n);
char *stage_scope_text(struct stage *s, const char *text);
/* Finds secrets in what leaves the plugin. */
void stage_check_secrets(struct stage *s, const char *where, const char *text, size_t len);

#endif
