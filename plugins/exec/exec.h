/* SPDX-License-Identifier: MIT
 * Internal interface of the connector exec, which runs a program that speaks turncast-exec/1: one
 * JSON object per line in both directions (turncast-exec(7)).
 *
 * Data flow: exec_connector.c receives events and passes them to exec_window.c, which keeps them
 * until the program acknowledges them; exec_message.c writes the lines for the program,
 * exec_program.c transports them, exec_command.c executes the lines of the program, exec_http.c
 * those with requests for the host to send, exec_chat*.c those about a chat. All code runs on the
 * thread of the instance. The program is not trusted: its output is checked, and a protocol
 * violation ends this process, which the host restarts. ⏎ */
#ifndef EXEC_H
#define EXEC_H

#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <turncast/json.h>
#include <turncast/plugin.h>

#define EXEC_PROTOCOL 1
#define EXEC_LINE_MAX ((size_t)1 << 20) /* limit of a line of the program */
#define EXEC_WINDOW 64 /* limit of unacknowledged events, unless the program sets another one */
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

/* A growing text. `at`: number of processed bytes. */
struct exec_text {
    char *p;
    size_t len, at, cap;
};

/* The running program. */
struct exec_program {
    pid_t pid;
    int in, out, err;                   /* our ends of its standard files; -1: closed */
    struct exec_text to, from;          /* lines for it, and bytes from it */
    struct exec_text from_stderr;       /* an unfinished line */
    char complaint[EXEC_COMPLAINT_MAX]; /* last line of standard error, which may explain its exit;
                                         * or "" */
    bool has_ended;                     /* its standard output is closed */
    int64_t began_ms;                   /* monotonic */
    int64_t restart_ms;                 /* time of its restart after an exit; 0: running */
    bool has_progressed;                /* an event was acknowledged, or an operation completed */
    unsigned futile;                    /* consecutive runs without progress, before this one */
};

/* Permissions that the program may request. */
enum { EXEC_MAY_SUBMIT = 1, EXEC_MAY_CANCEL = 2, EXEC_MAY_ANSWER = 4 };

/* The program's description of itself. */
struct exec_hello {
    bool is_known;
    bool delivers;
    uint32_t wants; /* bit n: events of kind n */
    unsigned may;   /* EXEC_MAY_… */
    size_t window;
};

/* A turn, in tc_turn.state. In the list from its first event until all its events are
 * acknowledged. */
struct exec_turn {
    struct tc_turn *turn;
    LIST_ENTRY(exec_turn) next;
    bool is_listed, is_resumed, is_done;
    size_t n_open; /* number of its unacknowledged events */
};

/* An event that the program has not acknowledged. */
struct exec_entry {
    STAILQ_ENTRY(exec_entry) next;
    uint64_t n;
    struct tc_turn *turn;
    int64_t hold;
    char *line; /* to be sent again after nack; owned */
    size_t len;
    bool is_resumed;  /* the line says that it may have been delivered before */
    int64_t again_ms; /* monotonic; 0: no resend is due */
};

/* An operation that the program has not completed. */
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
    uint32_t reactions; /* bit n: the program supports reaction n */
    bool is_paused, is_stopping, has_routes, has_explained;
    unsigned bad_lines; /* consecutive invalid lines */
    int64_t acked_ms;   /* start of the time limit (exec_window_waits), or the last progress */
    int64_t heard_ms;   /* last line of the program */
    int64_t pinged_ms;  /* time of a ping without its pong; 0: none */
    uint64_t hit;       /* number of the HTTP request being handled by on_hit; 0: none */
    uint64_t last_hit;
    struct tc_answer *answer; /* its response, filled in by exec_command.c */
    bool is_answered;
};

int64_t exec_now_ms(void); /* monotonic */

/* exec_text: exec_message.c */
void exec_text_add(struct exec_text *t, const char *p, size_t n);
void exec_text_consume(struct exec_text *t, size_t n);
void exec_text_free(struct exec_text *t);

/* exec_program.c. -1: logged. */
int exec_program_start(struct exec *e);
/* Restarts the program if it has exited and the restart is due. */
void exec_program_restart_due(struct exec *e, int64_t now_ms);
/* Writes as much as the pipe accepts. */
void exec_program_flush(struct exec *e);
/* Passes the received lines to exec_command_run; during start-up, only the hello. */
void exec_program_read_lines(struct exec *e);
/* Reads available output and passes each line to exec_command_run; lines of standard error go to
 * the log. */
void exec_program_read(struct exec *e, int fd);
/* Waits up to ms for output of the program. False: none. */
bool exec_program_wait(struct exec *e, int64_t ms);
/* Handles a violation of the protocol. This process may not kill another one: logs the reason and
 * ends itself and the program. The host restarts this process. */
__attribute__((__noreturn__, __format__(__printf__, 2, 3))) void
exec_program_fail(struct exec *e, const char *fmt, ...);
/* Requests the program to exit, and waits. */
void exec_program_stop(struct exec *e);

/* exec_message.c: index of the text in a list of words; entries may be NULL. -1: not in the list.
 */
int exec_word_find(const char *text, const char *const *words, size_t count);
/* The same for a member; missing: result for an absent member. */
int exec_member_word(const json_t *object, const char *key, const char *const *words, size_t count,
                     int missing);
/* Lines for the program. */
/* Queues a line. The time limit of acknowledgements starts if none was pending. */
void exec_message_queue(struct exec *e, const char *line, size_t len);
/* Queues an object as a line; takes ownership. Omits members that are null. */
void exec_message_json(struct exec *e, json_t *object);
void exec_message_init(struct exec *e);
/* Sets the line of an entry; the turn and the number are set. */
void exec_message_make_event(struct exec_entry *entry, const struct tc_event *ev);
/* Marks the line: the event may have been delivered before. */
void exec_message_mark_resumed(struct exec_entry *entry);
void exec_message_reply(struct exec *e, const char *id, enum tc_accepted status,
                        const struct tc_receipt *receipt);
void exec_message_refusal(struct exec *e, const char *id, const char *why);
void exec_message_response(struct exec *e, const char *id, const struct tc_reply *reply);
void exec_message_hit(struct exec *e, uint64_t id, const struct tc_hit *hit);
void exec_message_wake(struct exec *e, const struct tc_turn *turn);
void exec_message_ping(struct exec *e);
void exec_message_stop(struct exec *e, int64_t grace_ms);

/* exec_hello.c: reads the first line. -1: logged. */
int exec_hello_read(struct exec *e, const json_t *message);

/* exec_window.c */
/* Whether a time limit applies to the program: it has to read, or to acknowledge. */
bool exec_window_waits(const struct exec *e);
/* 0, or -1: the event cannot be held. */
int exec_window_add(struct exec *e, struct tc_turn *turn, const struct tc_event *ev);
/* Acknowledges event n and all earlier ones (only: no earlier one). False: unknown event. */
bool exec_window_ack(struct exec *e, uint64_t n, bool only);
bool exec_window_nack(struct exec *e, uint64_t n, int64_t retry_ms);
bool exec_window_reject(struct exec *e, uint64_t n, const char *why);
/* Pauses the host while the window is full, or the program does not read. */
void exec_window_update(struct exec *e);
/* The program was restarted: sends all unacknowledged events again. */
void exec_window_resume(struct exec *e);
/* Sends events whose resend is due. */
void exec_window_resend(struct exec *e, int64_t now_ms);
/* Monotonic time of the next action; INT64_MAX: none. */
int64_t exec_window_due_ms(const struct exec *e);
struct tc_turn *exec_window_find_turn(const struct exec *e, const char *id);
/* The turn of the unacknowledged event n; NULL: none. */
struct tc_turn *exec_window_turn_of(const struct exec *e, uint64_t n);
/* At the end: unacknowledged events stay held; the host keeps them. */
void exec_window_discard(struct exec *e);
void exec_window_record_turn(struct exec *e, struct tc_turn *turn, const struct tc_event *ev);

/* exec_command.c: executes one line of the program, without the newline. */
void exec_command_run(struct exec *e, const char *line, size_t len);

/* exec_http.c: requests of the program. */
int exec_http_check_options(const struct exec *e); /* -1: logged */
/* NULL, or why the request is refused. */
const char *exec_http_send(struct exec *e, const json_t *message);
void exec_http_on_reply(struct exec *e, const struct tc_reply *reply, struct tc_verdict *verdict);

/* exec_chat*.c: a chat service described and operated by the program. Each returns NULL, or why the
 * message of the program is refused. */
const char *exec_chat_describe(struct exec *e, const json_t *chat);
const char *exec_chat_handle_result(struct exec *e, const json_t *message);
const char *exec_chat_handle_message(struct exec *e, const json_t *message);
const char *exec_chat_handle_action(struct exec *e, const json_t *message);
/* Passes a due operation to the program. */
void exec_chat_perform(struct exec *e, struct tc_turn *turn, const struct tc_reply *reply);
/* The program has exited: its pending operations are in doubt. */
void exec_chat_abandon(struct exec *e);

/* exec_connector.c: sets the timer to the next due action. */
void exec_connector_set_timer(struct exec *e);

#endif
