/* SPDX-License-Identifier: MIT
 * Internal interface of the connector exec, which runs a program that speaks turncast-exec/1: one
 * JSON object per line in both directions (turncast-exec(7)).
 *
 * Data flow: exec_connector.c receives events and hands them to exec_window.c, which keeps them
 * until the program acknowledges them; exec_message.c writes the lines for the program,
 * exec_program.c transports them, exec_command.c carries out the lines that the program writes,
 * exec_http.c those that are requests for the host to send, exec_chat*.c those about a chat. All
 * code runs on the thread of the instance. The program is not trusted: what it writes is checked,
 * and a program that breaks the protocol is the end of this process, which the host starts again.
 */
#ifndef EXEC_H
#define EXEC_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <turncast/plugin.h>

#define EXEC_PROTOCOL 1
#define EXEC_LINE_MAX ((size_t)1 << 20) /* bytes of a line of the program */
#define EXEC_WINDOW 64 /* unacknowledged events, unless the program says otherwise */
#define EXEC_WINDOW_MAX 512
#define EXEC_COMPLAINT_MAX ((size_t)200)
#define EXEC_WINDOW_BYTES ((size_t)256 << 10)

struct exec_options {
    const char *const *command;
    const char *const *read;
    const char *const *env;
    const char *const *urls;
    const char *room;
    int64_t ack_s, hello_s, ping_s;
    bool draft, stream, source;
};

/* A growing text. `at`: bytes of it that are done with. */
struct exec_text {
    char *p;
    size_t len, at, cap;
};

/* The running program. */
struct exec_program {
    pid_t pid;
    int in, out, err;                   /* our ends of its standard files; -1: closed */
    struct exec_text to, from;          /* lines to it, and bytes from it */
    struct exec_text from_stderr;       /* an unfinished line */
    char complaint[EXEC_COMPLAINT_MAX]; /* its last line there that may say why it exits; or "" */
    bool has_ended;                     /* its standard output is closed */
    int64_t began_ms;                   /* monotonic */
    int64_t restart_ms;                 /* it has exited, and is started again then; 0: no */
    bool has_progressed;                /* acknowledged an event, or ended an operation */
    unsigned futile;                    /* runs in a row without progress, before this one */
};

/* Permissions that the program may ask for. */
enum { EXEC_MAY_SUBMIT = 1, EXEC_MAY_CANCEL = 2, EXEC_MAY_ANSWER = 4 };

/* The description that the program gave of itself. */
struct exec_hello {
    bool is_known;
    bool delivers;
    uint32_t wants; /* bit n: events of kind n */
    unsigned may;   /* EXEC_MAY_… */
    size_t window;
};

/* A turn, in tc_turn.state. Listed from its first event until nothing of it is open any more. */
struct exec_turn {
    struct tc_turn *turn;
    LIST_ENTRY(exec_turn) next;
    bool is_listed, is_resumed, is_done;
    size_t n_open; /* of its events, unacknowledged */
};

/* An event that the program has not acknowledged. */
struct exec_entry {
    STAILQ_ENTRY(exec_entry) next;
    uint64_t n;
    struct tc_turn *turn;
    int64_t hold;
    char *line; /* sent again after nack; owned */
    size_t len;
    bool is_resumed;  /* the line says that it may have been delivered before */
    int64_t again_ms; /* monotonic; 0: not to be sent again */
};

/* An operation that the program has not ended. */
struct exec_op {
    LIST_ENTRY(exec_op) next;
    uint64_t number;
    struct tc_turn *turn;
};

struct exec {
    struct tc_instance *inst;
    struct exec_program program;
    struct exec_hello hello;
    LIST_HEAD(exec_turns, exec_turn) turns;
    LIST_HEAD(exec_ops, exec_op) ops;
    STAILQ_HEAD(exec_entries, exec_entry) entries; /* oldest first */
    size_t n_entries, entry_bytes;
    uint64_t last_event, last_ping;
    bool is_starting;   /* init has not returned: the host does not answer calls yet */
    uint32_t reactions; /* bit n: the program shows reaction n */
    bool is_paused, is_stopping, has_routes, has_explained;
    unsigned bad_lines; /* in a row */
    int64_t acked_ms;   /* since when it is waited for (exec_window_waits), or the last progress */
    int64_t heard_ms;   /* last line of the program */
    int64_t pinged_ms;  /* of a ping without its pong; 0: none */
    uint64_t hit;       /* number of the HTTP request that on_hit answers; 0: none */
    uint64_t last_hit;
    struct tc_answer *answer; /* its response; filled in by exec_command.c */
    bool is_answered;
};

int64_t exec_now_ms(void); /* monotonic */

/* exec_text: exec_message.c */
void exec_text_add(struct exec_text *t, const char *p, size_t n);
void exec_text_consume(struct exec_text *t, size_t n);
void exec_text_free(struct exec_text *t);

/* exec_program.c. -1: logged. */
int exec_program_start(struct exec *e);
/* Starts the program again if it has exited and its time has come. */
void exec_program_restart_due(struct exec *e, int64_t now_ms);
/* Writes what the pipe takes. */
void exec_program_flush(struct exec *e);
/* Hands the lines that were read to exec_command_run; while starting, only the hello. */
void exec_program_take_lines(struct exec *e);
/* Reads what is there and hands each line to exec_command_run, of standard error to the log. */
void exec_program_read(struct exec *e, int fd);
/* Waits up to ms for output of the program. False: nothing came. */
bool exec_program_wait(struct exec *e, int64_t ms);
/* The program broke the protocol, and this process may not kill another one: logs why and ends
 * both. The host starts this process again. */
__attribute__((__noreturn__, __format__(__printf__, 2, 3))) void
exec_program_give_up(struct exec *e, const char *fmt, ...);
/* Asks it to end, and waits. */
void exec_program_stop(struct exec *e);

/* exec_message.c: members of a line of the program: a string, or NULL; a number, or 0. */
const char *exec_member_text(const json_t *object, const char *key);
int64_t exec_member_number(const json_t *object, const char *key);
/* The index of the text in a list of words; entries of the list may be NULL. -1: it is none of
 * them.
 */
int exec_word_find(const char *text, const char *const *words, size_t count);
/* The same of a member; missing: what a missing member means. */
int exec_member_word(const json_t *object, const char *key, const char *const *words, size_t count,
                     int missing);
/* Lines for the program. */
/* Queues a line. The time limit of acknowledgements begins if nothing was waited for. */
void exec_message_queue(struct exec *e, const char *line, size_t len);
/* Queues an object as a line; takes it over. Members that are null are left out. */
void exec_message_json(struct exec *e, json_t *object);
void exec_message_init(struct exec *e);
/* Sets the line of an entry; the turn and the number are set. */
void exec_message_make_event(struct exec_entry *entry, const struct tc_event *ev);
/* The line says from now on that the event may have been delivered before. */
void exec_message_mark_resumed(struct exec_entry *entry);
void exec_message_reply(struct exec *e, const char *id, enum tc_accepted status,
                        const struct tc_receipt *receipt);
void exec_message_refusal(struct exec *e, const char *id, const char *why);
void exec_message_response(struct exec *e, const char *id, const struct tc_reply *reply);
void exec_message_hit(struct exec *e, uint64_t id, const struct tc_hit *hit);
void exec_message_wake(struct exec *e, const struct tc_turn *turn);
void exec_message_ping(struct exec *e);
void exec_message_stop(struct exec *e, int64_t grace_ms);

/* exec_hello.c: the first line. -1: logged. */
int exec_hello_read(struct exec *e, const json_t *message);

/* exec_window.c */
/* Whether the program has to do something within the time limit: to read, or to acknowledge. */
bool exec_window_waits(const struct exec *e);
/* 0, or -1: the event cannot be held. */
int exec_window_add(struct exec *e, struct tc_turn *turn, const struct tc_event *ev);
/* Acknowledges event n and all before it (only: no earlier one). False: there is no such event. */
bool exec_window_ack(struct exec *e, uint64_t n, bool only);
bool exec_window_nack(struct exec *e, uint64_t n, int64_t retry_ms);
bool exec_window_reject(struct exec *e, uint64_t n, const char *why);
/* Pauses the host while the window is full, or the program does not read. */
void exec_window_update(struct exec *e);
/* The program has been started again: sends it everything that is unacknowledged. */
void exec_window_resume(struct exec *e);
/* Sends again what is due. */
void exec_window_resend(struct exec *e, int64_t now_ms);
/* When something is due, monotonic; INT64_MAX: nothing. */
int64_t exec_window_due_ms(const struct exec *e);
struct tc_turn *exec_window_find_turn(const struct exec *e, const char *id);
/* The turn of the unacknowledged event n; NULL: there is none. */
struct tc_turn *exec_window_turn_of(const struct exec *e, uint64_t n);
/* At the end: what is not acknowledged stays held, and is the host's. */
void exec_window_discard(struct exec *e);
void exec_window_note_turn(struct exec *e, struct tc_turn *turn, const struct tc_event *ev);

/* exec_command.c: one line of the program, without the newline. */
void exec_command_run(struct exec *e, const char *line, size_t len);

/* exec_http.c: requests of the program. */
int exec_http_check_options(const struct exec *e); /* -1: logged */
/* NULL, or why the request is refused. */
const char *exec_http_send(struct exec *e, const json_t *message);
void exec_http_on_reply(struct exec *e, const struct tc_reply *reply, struct tc_verdict *verdict);

/* exec_chat*.c: a chat service that the program describes and operates. Each returns NULL, or why
 * the message of the program is refused. */
const char *exec_chat_describe(struct exec *e, const json_t *chat);
const char *exec_chat_take_result(struct exec *e, const json_t *message);
const char *exec_chat_take_message(struct exec *e, const json_t *message);
const char *exec_chat_take_action(struct exec *e, const json_t *message);
/* Gives an operation that is to be performed now to the program. */
void exec_chat_perform(struct exec *e, struct tc_turn *turn, const struct tc_reply *reply);
/* The program has ended: the operations that it had are in doubt. */
void exec_chat_abandon(struct exec *e);

/* exec_connector.c: sets the timer to what is due next. */
void exec_connector_set_timer(struct exec *e);

#endif
