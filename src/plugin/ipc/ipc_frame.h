/* SPDX-License-Identifier: MIT
 * What crosses between the host and the process of an instance: frames on a stream. The host's are
 * the calls of channel_ops, the instance's those of channel_host. The readers believe nothing; a
 * frame that is not one is the end of its sender. */
#ifndef PLUGIN_IPC_IPC_FRAME_H
#define PLUGIN_IPC_IPC_FRAME_H

#include "base/arena.h"
#include "base/bytes/pack.h"
#include "plugin/channel.h"

enum frame_type {
    /* To the instance. Those from EVENT to SOCKET it handles in order, and counts in its gauge. */
    FRAME_SETUP = 1,
    FRAME_OPEN,  /* a turn: its number, frame_turn */
    FRAME_EVENT, /* number of the turn, wire */
    FRAME_REPLY, /* number of the turn or 0, frame_reply */
    FRAME_HIT,   /* its number, frame_hit */
    FRAME_SOCKET,
    FRAME_PING,
    FRAME_ASKED, /* frame_asked */
    FRAME_STOP,
    /* From it. */
    FRAME_STARTED,
    FRAME_REFUSED, /* text: why it could not be started; "": its init has logged it */
    FRAME_LETTER,  /* a part of the batch that follows */
    FRAME_BATCH,
    FRAME_OVER, /* number of the turn */
    FRAME_ASK,
    FRAME_ROUTE,
    FRAME_SOCKET_OPEN,
    FRAME_SOCKET_SEND,
    FRAME_SOCKET_CLOSE,
    FRAME_ANSWER, /* number of the hit */
    FRAME_ROOM,   /* more can be sent: so many it has handled, of all */
    /* To it again. */
    FRAME_BELL, /* on the socket: there is something in the ring */
    FRAME_AWAY, /* in the ring: the next one is too big for it and comes on the socket */
    FRAME_TYPES,
};

#define FRAME_MAX ((size_t)80 << 20) /* a letter is the biggest there is */

/* What a frame begins with. */
struct frame_head {
    uint32_t type, len; /* len: of what follows */
};
#define FRAME_HEAD sizeof(struct frame_head)
static inline void frame_write_head(char *to, enum frame_type type, size_t len)
{
    const struct frame_head head = {(uint32_t)type, (uint32_t)len};
    memcpy(to, &head, sizeof head);
}
/* Begins a frame at the end of `out`; frame_end wants what it returned. */
size_t frame_begin(struct buf *out, enum frame_type type);
void frame_end(struct buf *out, size_t begun);

struct frame {
    enum frame_type type;
    struct unpack in; /* what it holds */
};
/* The frame at the front of what was received: its whole length; 0: it is not whole yet; -1: it is
 * none. */
static inline int64_t frame_next(struct str received, struct frame *f)
{
    struct frame_head head;
    if (received.len < sizeof head)
        return 0;
    memcpy(&head, received.p, sizeof head);
    if (head.type < FRAME_SETUP || head.type >= FRAME_TYPES || head.len > FRAME_MAX)
        return -1;
    const size_t whole = sizeof head + head.len;
    if (received.len < whole)
        return 0;
    f->type = (enum frame_type)head.type;
    unpack_start(&f->in, (struct str){received.p + sizeof head, head.len});
    return (int64_t)whole;
}

/* ---- what they hold: strings that are read point into the frame */

/* Of an instance and its surroundings; lists end with NULL, pairs with a NULL key. */
struct frame_setup {
    const char *file; /* the configuration's, for errors */
    int64_t line;
    const char *path, *name;
    const struct conf_pair *options; /* secrets resolved */
    bool has_batch, has_ask, has_server, has_sockets;
    uint64_t last_letter;
    bool debug;      /* debug lines of the log are wanted */
    const char *dir; /* to work in, and to write to; or NULL */
    bool dir_full;   /* it may only remove files there */
    const char *const *write_paths;
    const int64_t *ports;           /* ends with 0 */
    int64_t memory;                 /* bytes that it may take */
    int64_t file_size;              /* of each file that it writes; 0: no limit */
    const struct conf_chaos *chaos; /* ends with CHAOS_NOTHING */
};
void frame_pack_setup(struct buf *out, const struct frame_setup *s);
void frame_unpack_setup(struct unpack *u, struct arena *a, struct frame_setup *s);

void frame_pack_turn(struct buf *out, const struct channel_turn *t);
void frame_unpack_turn(struct unpack *u, struct channel_turn *t);

void frame_pack_reply(struct buf *out, const struct letter_reply *r);
/* NULL: the frame is bad. */
struct letter_reply *frame_unpack_reply(struct unpack *u);

void frame_pack_letter(struct buf *out, const struct letter *l);
struct letter *frame_unpack_letter(struct unpack *u);

/* Without its letters. */
void frame_pack_batch(struct buf *out, const struct batch *b);
struct batch *frame_unpack_batch(struct unpack *u);

void frame_pack_hit(struct buf *out, const struct tc_hit *hit);
void frame_unpack_hit(struct unpack *u, struct arena *a, struct tc_hit *hit);
/* NULL: there is none. */
void frame_pack_answer(struct buf *out, const struct tc_answer *answer);
const struct tc_answer *frame_unpack_answer(struct unpack *u, struct tc_answer *into);

void frame_pack_socket(struct buf *out, const struct tc_frame *f);
void frame_unpack_socket(struct unpack *u, struct tc_frame *f);
void frame_pack_socket_spec(struct buf *out, const struct tc_socket *s);
void frame_unpack_socket_spec(struct unpack *u, struct tc_socket *s);

void frame_pack_ask(struct buf *out, const struct ask *a);
/* An ask of that instance; NULL: the frame is bad. */
struct ask *frame_unpack_ask(struct unpack *u, const char *instance);
struct frame_asked {
    enum tc_accepted accepted;
    const char *turn, *text; /* or NULL */
};
void frame_pack_asked(struct buf *out, const struct frame_asked *a);
void frame_unpack_asked(struct unpack *u, struct frame_asked *a);

#endif
