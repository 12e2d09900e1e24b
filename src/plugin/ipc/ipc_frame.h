/* SPDX-License-Identifier: MIT
 * Frames between the host and a connector process. Frames of the host correspond to calls of
 * channel_ops, those of the process to calls of channel_callbacks. Readers treat frames as
 * untrusted input; a malformed frame ends its sender. */
#ifndef PLUGIN_IPC_IPC_FRAME_H
#define PLUGIN_IPC_IPC_FRAME_H

#include "base/arena.h"
#include "base/bytes/pack.h"
#include "plugin/channel.h"
#include "plugin/stored_texts.h"

enum frame_type {
    /* To the process, which handles those from EVENT to SOCKET in order and counts them in its
     * status page. */
    IPC_SETUP = 1,
    IPC_OPEN,  /* a turn: its number, frame_turn */
    IPC_EVENT, /* number of the turn, wire */
    IPC_REPLY, /* number of the turn or 0, frame_reply */
    IPC_HIT,   /* its number, frame_hit */
    IPC_SOCKET,
    IPC_PING,
    IPC_CALL_RESULT, /* frame_asked */
    IPC_STOP,
    /* From the process. */
    IPC_STARTED,
    IPC_REFUSED, /* text: why the start failed; "": init has logged the reason */
    IPC_REQUEST, /* a part of the following batch */
    IPC_BATCH,
    IPC_TURN_OVER, /* number of the turn */
    IPC_CALL,
    IPC_ROUTE,
    IPC_SOCKET_OPEN,
    IPC_SOCKET_SEND,
    IPC_SOCKET_CLOSE,
    IPC_ANSWER, /* number of the hit */
    IPC_ROOM,   /* total number of handled tasks, so that more can be sent */
    IPC_SECRET, /* name, value */
    IPC_STORE,  /* key, text or NULL */
    /* To the process again. */
    IPC_WAKE_UP,   /* on the socket: there are frames in the ring buffer */
    IPC_ON_SOCKET, /* in the ring buffer: the next frame is too large for it, and is on the
                    * socket */
    IPC_TYPES,
};

#define IPC_MAX ((size_t)80 << 20) /* a request is the largest frame */

/* Start of each frame. */
struct ipc_frame_header {
    uint32_t type, len; /* len: bytes after the header */
};
#define IPC_HEAD sizeof(struct ipc_frame_header)
static inline void ipc_frame_write_header(char *to, enum frame_type type, size_t len)
{
    const struct ipc_frame_header head = {(uint32_t)type, (uint32_t)len};
    memcpy(to, &head, sizeof head);
}
/* Begins a frame at the end of `out`; pass the returned value to ipc_frame_end. */
size_t ipc_frame_begin(struct buf *out, enum frame_type type);
void ipc_frame_end(struct buf *out, size_t begun);

struct ipc_frame {
    enum frame_type type;
    struct unpacker in; /* its contents */
};
/* Decodes the first frame of the received bytes. Returns its length with header; 0: incomplete; -1:
 * malformed. */
static inline int64_t ipc_frame_decode_next(struct str received, struct ipc_frame *f)
{
    struct ipc_frame_header head;
    if (received.len < sizeof head)
        return 0;
    memcpy(&head, received.p, sizeof head);
    if (head.type < IPC_SETUP || head.type >= IPC_TYPES || head.len > IPC_MAX)
        return -1;
    const size_t whole = sizeof head + head.len;
    if (received.len < whole)
        return 0;
    f->type = (enum frame_type)head.type;
    unpack_init(&f->in, (struct str){received.p + sizeof head, head.len});
    return (int64_t)whole;
}

/* ---- contents of frames; decoded strings point into the frame */

/* Data that a connector process needs to start. Lists end with NULL, pairs with a NULL key. */
struct ipc_setup {
    const char *file; /* file of the configuration, for errors */
    int64_t line;
    const char *path, *name;
    const struct conf_option *options; /* secrets resolved */
    const struct stored_text *stored;  /* or NULL */
    bool has_batch, has_ask, has_server, has_sockets;
    uint64_t last_request;
    bool debug;      /* the host logs at level debug */
    const char *dir; /* working directory, writable; or NULL */
    bool dir_full;   /* the process may only remove files in `dir` */
    const char *const *write_paths;
    bool starts_programs;
    const char *const *run_paths;   /* files that these programs may read and execute */
    const int64_t *ports;           /* ends with 0 */
    int64_t memory;                 /* memory limit in bytes */
    enum language language;         /* language of texts for people */
    int64_t file_size;              /* limit of each file that it writes, in bytes; 0: no limit */
    const struct conf_chaos *chaos; /* ends with CHAOS_NOTHING */
};
void ipc_frame_pack_setup(struct buf *out, const struct ipc_setup *s);
void ipc_frame_unpack_setup(struct unpacker *u, struct arena *a, struct ipc_setup *s);

void ipc_frame_pack_headers(struct buf *out, const struct tc_header *headers, size_t count);
/* The array is in the arena, its strings are in the frame. */
const struct tc_header *ipc_frame_unpack_headers(struct unpacker *u, struct arena *a,
                                                 size_t *count);

void ipc_frame_pack_turn(struct buf *out, const struct channel_turn *t);
void ipc_frame_unpack_turn(struct unpacker *u, struct channel_turn *t);

void ipc_frame_pack_reply(struct buf *out, const struct outbound_reply *r);
/* NULL: malformed frame. */
struct outbound_reply *ipc_frame_unpack_reply(struct unpacker *u);

void ipc_frame_pack_request(struct buf *out, const struct outbound_request *l);
struct outbound_request *ipc_frame_unpack_request(struct unpacker *u);

/* Encodes the batch without its requests, which have separate frames. */
void ipc_frame_pack_batch(struct buf *out, const struct callback_batch *b);
struct callback_batch *ipc_frame_unpack_batch(struct unpacker *u);

void ipc_frame_pack_hit(struct buf *out, const struct tc_hit *hit);
void ipc_frame_unpack_hit(struct unpacker *u, struct arena *a, struct tc_hit *hit);
/* `answer` NULL: the request gets no response. */
void ipc_frame_pack_answer(struct buf *out, const struct tc_answer *answer);
const struct tc_answer *ipc_frame_unpack_answer(struct unpacker *u, struct tc_answer *into);

void ipc_frame_pack_socket_text(struct buf *out, const struct tc_frame *f);
void ipc_frame_unpack_socket(struct unpacker *u, struct tc_frame *f);
void ipc_frame_pack_socket_spec(struct buf *out, const struct tc_socket *s);
void ipc_frame_unpack_socket_spec(struct unpacker *u, struct arena *a, struct tc_socket *s);

void ipc_frame_pack_call(struct buf *out, const struct host_call *a);
/* A call of that instance; NULL: malformed frame. */
struct host_call *ipc_frame_unpack_call(struct unpacker *u, const char *instance);
struct ipc_call_result {
    enum tc_accepted accepted;
    const char *turn, *text; /* or NULL */
};
void ipc_frame_pack_call_result(struct buf *out, const struct ipc_call_result *a);
void ipc_frame_unpack_call_result(struct unpacker *u, struct ipc_call_result *a);

#endif
