/* SPDX-License-Identifier: MIT
 * `turncast replay`: processes a recorded stream like the output of an agent, with the same
 * connectors. Waits for slow connectors, so that they lose no events. Each turn of the stream
 * becomes a turn; --turn selects. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "cli/command_table.h"
#include "cli/oneshot_host.h"
#include "cli/run/replay_clock.h"
#include "cli/run/stop_signal.h"
#include "cli/run/visibility_args.h"
#include "io/loop/line_splitter.h"

#define CHUNK ((size_t)256 << 10) /* each read wakes the writer of a full pipe */
#define PIPE_SIZE (1 << 20)       /* large enough that the writer need not wait for each chunk */
#define SLICE_MS 20       /* longest pause at once, so that connectors' requests do not wait */
#define PATIENCE_MS 10000 /* how long to wait for a connector that makes no progress */
/* Silence after an outcome: the turn has ended, although its stream may continue. */
#define PAUSE_MS 200
/* Silence after which a turn with a held answer ends, if no background work is known. */
#define SETTLE_MS 2000

static const struct args_option rows[] = {
    ARG_PLUGIN,
    {'d', ARG_TEXT, "dialect", "NAME", offsetof(struct args, dialect),
     "format of the recording; default: detected from its\nfirst lines"},
    {'s', ARG_FACTOR, "speed", "X", offsetof(struct args, speed),
     "replay at X times the recorded speed: by FILE's .meta.json,\n"
     "else by the times in its lines, else 20 lines a second;\n"
     "default: as fast as possible"},
    {'t', ARG_TEXT, "turn", "N|all|last", offsetof(struct args, turn),
     "replay only turn N, counted from 1, or the last one;\ndefault: all turns"},
    ARG_AGENT("agent whose stored visibility settings apply"),
    ARG_CONFIG,
    ARG_VERBOSE,
    {0},
};

struct replay {
    const struct args *args;
    const struct dialect *dialect;
    struct conf *conf;
    struct visibility visibility;
    int fd;
    off_t start; /* offset of the recording in the file; -1: it cannot be read twice */
    struct stop_signal stop;
    struct oneshot_host host;
    struct turn *turn;
    struct replay_clock pace;
    int64_t began_ms;
    bool stopped;
    uint64_t wanted;  /* number of the selected turn; 0: all */
    uint64_t n_turns; /* number of turns that have started */
    bool last;        /* --turn last */
    bool told;        /* the newest turn is selected */
    bool has_error;   /* a selected turn ended with an error */
};

static int read_selection(struct replay *r)
{
    const char *const text = r->args->turn;
    char *end = NULL;
    if (!text || strcmp(text, "all") == 0)
        return 0;
    r->last = strcmp(text, "last") == 0;
    if (r->last)
        return 0;
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n == 0)
        return args_usage_error(&cmd_replay,
                                "--turn: \"%s\" is not a number from 1, \"all\" or \"last\"", text);
    r->wanted = n;
    return 0;
}

static int find_dialect(struct replay *r)
{
    const char *const name = r->args->dialect;
    CLEANUP_BUF struct buf known = {0};
    if (!name || (r->dialect = dialect_find(name)))
        return 0;
    const struct dialect *d;
    for (size_t i = 0; (d = dialect_get(i)); i++)
        buf_printf(&known, "%s%s", i ? ", " : "", d->name);
    return args_usage_error(&cmd_replay, "unknown dialect \"%s\"; available: %s", name, known.p);
}

static int open_input(struct replay *r)
{
    const char *file = r->args->operands[0];
    struct tc_err err = {0};
    struct stat st;
    r->fd = strcmp(file, "-") == 0 ? dup(STDIN_FILENO) : open(file, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0 || fstat(r->fd, &st) < 0)
        err_set_errno(&err, errno, file, "cannot open");
    else if (S_ISDIR(st.st_mode))
        err_set(&err, file, "is a directory");
    else {
        r->start = S_ISREG(st.st_mode) ? lseek(r->fd, 0, SEEK_CUR) : -1;
        if (S_ISFIFO(st.st_mode))
            fcntl(r->fd, F_SETPIPE_SZ, PIPE_SIZE); /* may be refused: the pipe keeps its size
                                                    * then */
        return 0;
    }
    command_conf_print_error(&err);
    return EXIT_USAGE;
}

/* Passes a line to the turn when it is due. */
static void cmd_replay_on_line(void *ctx, const char *p, size_t len, bool complete)
{
    struct replay *r = ctx;
    const int64_t due_ms = r->began_ms + replay_clock_next_ms(&r->pace, p, len);
    if (due_ms - clock_mono_ms() >= PAUSE_MS)
        turn_pause(r->turn);
    for (int64_t left; !r->stopped && (left = due_ms - clock_mono_ms()) > 0;) {
        r->stopped = stop_signal_wait(&r->stop, -1, left < SLICE_MS ? left : SLICE_MS);
        loop_run_once(r->host.loop, 0);
    }
    if (r->stopped)
        return;
    turn_feed(r->turn, p, len);
    if (complete)
        turn_feed(r->turn, "\n", 1);
}

static void cmd_replay_on_dropped(void *ctx, uint64_t bytes)
{
    CLEANUP_FREE char *text = xasprintf("skipped a line of %llu bytes (limit: max_line_bytes)",
                                        (unsigned long long)bytes);
    turn_emit_notice(((struct replay *)ctx)->turn, "warn", "line_dropped", text);
}

/* Passes the chunk on: whole, or line by line at the recorded pace. lines NULL: whole. */
static void cmd_replay_feed(struct replay *r, struct line_splitter *lines, const char *p, size_t n)
{
    if (lines)
        line_splitter_feed(lines, p, n);
    else
        turn_feed(r->turn, p, n);
}

static bool is_readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) != 0; /* read() reports the error */
}

/* Waits for input or a signal. Meanwhile, a turn that already has its outcome ends. */
static void cmd_replay_wait_for_input(struct replay *r)
{
    for (int64_t silent_ms = 0; !r->stopped; silent_ms += PAUSE_MS) {
        if (silent_ms >= SETTLE_MS && turn_work(r->turn) == DIALECT_SETTLING)
            turn_settle(r->turn);
        if (silent_ms > 0)
            turn_pause(r->turn);
        loop_run_once(r->host.loop, 0);
        r->stopped = stop_signal_wait(&r->stop, r->fd, PAUSE_MS);
        if (is_readable(r->fd))
            return;
    }
}

/* Reads to the end of input, or until a signal; -1: a read failed. */
static int cmd_replay_pump(struct replay *r, struct line_splitter *lines)
{
    CLEANUP_FREE char *chunk = xmalloc(CHUNK);
    for (;;) {
        cmd_replay_wait_for_input(r);
        if (r->stopped)
            return 0;
        const ssize_t n = read(r->fd, chunk, CHUNK);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return n < 0 ? -1 : 0;
        cmd_replay_feed(r, lines, chunk, (size_t)n);
    }
}

static int cmd_replay_play_timed(struct replay *r, int64_t max_line)
{
    if (r->args->speed <= 0)
        return cmd_replay_pump(r, NULL);
    struct line_splitter lines = {.line = cmd_replay_on_line,
                                  .dropped = cmd_replay_on_dropped,
                                  .ctx = r,
                                  .cap = (size_t)max_line};
    replay_clock_init(&r->pace, r->args->speed, r->args->operands[0]);
    r->began_ms = clock_mono_ms();
    const int rc = cmd_replay_pump(r, &lines);
    if (rc == 0 && !r->stopped)
        line_splitter_finish(&lines);
    line_splitter_fini(&lines);
    replay_clock_fini(&r->pace);
    return rc;
}

static void cmd_replay_end_turn(struct replay *r, int failed)
{
    struct stream_end_info end = {
        .how = r->stopped ? STREAM_CANCELLED : STREAM_EOF,
        .code = r->stopped ? NULL : "agent_no_result",
        .message = failed                       ? "error while reading the recording"
                   : turn_is_unmatched(r->turn) ? "no dialect matches the recording; name one with "
                                                  "--dialect"
                                                : "the recording ends before the turn's result",
    };
    turn_end_attempt(r->turn, &end, NULL);
}

/* ---- the turns of the recording ---- */

static void cmd_replay_record_result(struct replay *r)
{
    r->has_error |= r->told && r->turn && turn_get_result(r->turn)->has_error;
}

static bool cmd_replay_on_turn(void *ctx, uint64_t number)
{
    struct replay *const r = ctx;
    cmd_replay_record_result(r);
    r->n_turns = number;
    r->told = !r->last && (!r->wanted || number == r->wanted);
    return r->told;
}

static void cmd_replay_open_turn(struct replay *r)
{
    const struct turn_spec spec = {
        .dialect = r->dialect,
        .agent = r->args->agent,
        .visibility = r->visibility,
        .max_line = LINES_DEFAULT_CAP,
        .language = oneshot_host_language(r->host.conf),
        .several = cmd_replay_on_turn,
        .ctx = r,
    };
    r->turn = turn_new(r->host.dispatch, &spec);
    turn_release_gated(r->turn); /* a replay is never retried */
}

static void cmd_replay_close_turn(struct replay *r, int failed)
{
    cmd_replay_end_turn(r, failed);
    cmd_replay_record_result(r);
    turn_free(r->turn);
    r->turn = NULL;
}

/* Copies input from a pipe to an unnamed file, so that it can be read twice. */
static int cmd_replay_copy_to_file(struct replay *r)
{
    CLEANUP_FREE char *chunk = xmalloc(CHUNK);
    FILE *const f = tmpfile();
    const int fd = f ? fcntl(fileno(f), F_DUPFD_CLOEXEC, 0) : -1;
    ssize_t n = fd < 0 ? -1 : 1;
    while (n > 0 && !(r->stopped = stop_signal_wait(&r->stop, r->fd, -1))) {
        n = read(r->fd, chunk, CHUNK);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0 && write(fd, chunk, (size_t)n) != n)
            n = -1;
    }
    if (f)
        fclose(f);
    close(r->fd);
    r->fd = fd;
    r->start = 0;
    return n < 0 || lseek(fd, 0, SEEK_SET) < 0 ? -1 : 0;
}

/* --turn last: reads the whole recording once to count its turns. */
static int cmd_replay_find_last(struct replay *r)
{
    if (r->start < 0 && cmd_replay_copy_to_file(r) < 0)
        return -1;
    cmd_replay_open_turn(r);
    const int failed = cmd_replay_pump(r, NULL);
    cmd_replay_close_turn(r, failed);
    r->last = false;
    r->wanted = r->n_turns;
    return failed || lseek(r->fd, r->start, SEEK_SET) < 0 ? -1 : 0;
}

static void cmd_replay_print_read_error(const struct replay *r)
{
    fprintf(stderr, "turncast: %s: %s\n", r->args->operands[0], strerror(errno));
}

static int cmd_replay_dispatch_input(struct replay *r)
{
    dispatch_set_backpressure(r->host.dispatch, PATIENCE_MS);
    if (r->last && cmd_replay_find_last(r) < 0) {
        cmd_replay_print_read_error(r);
        return EXIT_TURN_ERROR;
    }
    cmd_replay_open_turn(r);
    const int failed = cmd_replay_play_timed(r, LINES_DEFAULT_CAP);
    if (failed)
        cmd_replay_print_read_error(r);
    cmd_replay_close_turn(r, failed);
    if (failed || r->stopped || r->has_error)
        return EXIT_TURN_ERROR;
    if (r->wanted <= r->n_turns)
        return 0;
    fprintf(stderr, "turncast: %s: no turn %" PRIu64 " in the recording (turns: %" PRIu64 ")\n",
            r->args->operands[0], r->wanted, r->n_turns);
    return EXIT_USAGE;
}

static int cmd_replay_prepare(struct replay *r)
{
    int status = find_dialect(r);
    if (status == 0)
        status = read_selection(r);
    if (status == 0)
        status = open_input(r);
    if (status == 0 && oneshot_host_apply_plugins(r->conf, r->args, &cmd_replay) < 0)
        status = EXIT_USAGE;
    if (status)
        return status;
    struct visibility_store *const store = visibility_store_new(r->conf);
    r->visibility = oneshot_host_load_visibility(store, r->args->agent);
    visibility_store_free(store);
    return visibility_args_apply(&cmd_replay, r->args->operands + 1, r->args->n_operands - 1,
                                 &r->visibility);
}

static int cmd_replay_start_and_dispatch(struct replay *r)
{
    int status = EXIT_USAGE;
    stop_signal_init(&r->stop);
    const bool started = oneshot_host_start(&r->host, r->conf, r->args, false) == 0;
    if (started)
        status = cmd_replay_dispatch_input(r);
    stop_signal_fini(&r->stop);
    if (!started)
        return status;
    /* --format: adds an instance that writes the events to standard output. */
    if (oneshot_host_settle(&r->host) && status == 0)
        status = EXIT_TURN_ERROR;
    oneshot_host_stop(&r->host);
    return status;
}

static int cmd_replay_run(const struct args *args)
{
    struct replay r = {.args = args, .fd = -1};
    if (!(r.conf = command_conf_load(args)))
        return EXIT_USAGE;
    int status = cmd_replay_prepare(&r);
    if (status == 0)
        status = cmd_replay_start_and_dispatch(&r);
    if (r.fd >= 0)
        close(r.fd);
    conf_unref(r.conf);
    return status;
}

const struct cli_command cmd_replay = {
    .name = "replay",
    .operands = "FILE|- [/show-X|/hide-X]...",
    .summary = "Replays recorded output of an agent",
    .about =
        "FILE is the recorded output, or - for standard input. A token changes the visibility of\n"
        "this replay, as it would in a message; see turncast visibility --help.",
    .args = rows,
    .min = 1,
    .max = 100,
    .run = cmd_replay_run,
};
