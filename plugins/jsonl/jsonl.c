/* SPDX-License-Identifier: MIT
 * The jsonl connector: canonical event lines to stdout or a file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <turncast/plugin.h>

struct jsonl_conf {
    const char *path;
    const char *format, *protocol;
    bool sse;
};

static const struct tc_option options[] = {
    TC_OPTION(struct jsonl_conf, path, NULL, 0, "file to append to (default: standard output)"),
    TC_OPTION(struct jsonl_conf, format, NULL, 0,
              "output format of another system (default: canonical events)"),
    TC_OPTION(struct jsonl_conf, protocol, NULL, 0, "version of that format"),
    TC_OPTION(struct jsonl_conf, sse, "false", 0, "server-sent events instead of lines"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "path", .kind = TC_RULE_WRITES},
    /* All writers of the host (writer_table.c); checked by t_jsonl. */
    {.key = "format",
     .kind = TC_RULE_ONE_OF,
     .text = "turncast ag-ui agenticore-openai ai-sdk awaken ethos missy-audit missy-json otlp "
             "reasonix"},
    {.key = "protocol", .kind = TC_RULE_NEEDS, .text = "format"},
    {0},
};

struct jsonl_state {
    int fd;
    bool torn;     /* the last write ended within a line */
    bool gone;     /* the reader of stdout has closed it: no more events are written */
    uint64_t lost; /* lines lost since the logged failure */
    size_t len;
    char buf[64 * 1024];
};

/* Writes everything, waiting if the descriptor would block. Returns the number of written bytes. */
static size_t write_all(int fd, const char *p, size_t n)
{
    size_t done = 0;
    while (done < n) {
        const ssize_t got = write(fd, p + done, n - done);
        if (got > 0) {
            done += (size_t)got;
        } else if (got < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        } else if (got == 0 || errno != EINTR) {
            break;
        }
    }
    return done;
}

/* Lost lines are counted, and logged at the start and the end of a failure, so that a full disk
 * causes two log lines and not one per event. */
static int report_lost(struct tc_instance *inst, const char *p, size_t n)
{
    struct jsonl_state *s = inst->state;
    const struct jsonl_conf *conf = inst->conf;
    if (errno == EPIPE && !conf->path) {
        /* A closed pipe, as with head(1), is a normal end. */
        tc_log(inst, TC_INFO, "standard output was closed by the reader");
        s->gone = true;
        return 0;
    }
    if (s->lost == 0)
        tc_log(inst, TC_ERR, "cannot write to %s: %s; events are being lost",
               conf->path ? conf->path : "stdout", strerror(errno));
    for (size_t i = 0; i < n; i++)
        s->lost += p[i] == '\n';
    return -1;
}

static int put(struct tc_instance *inst, const char *p, size_t n)
{
    struct jsonl_state *s = inst->state;
    if (s->gone)
        return 0;
    if (s->torn && write_all(s->fd, "\n", 1) != 1)
        return report_lost(inst, p, n);
    s->torn = false;
    const size_t done = write_all(s->fd, p, n);
    if (done < n) {
        s->torn = done > 0 && p[done - 1] != '\n';
        return report_lost(inst, p + done, n - done);
    }
    if (s->lost > 0)
        tc_log(inst, TC_WARN, "writing resumed; events lost: %" PRIu64, s->lost);
    s->lost = 0;
    return 0;
}

static int flush(struct tc_instance *inst)
{
    struct jsonl_state *s = inst->state;
    const size_t n = s->len;
    s->len = 0;
    return n > 0 ? put(inst, s->buf, n) : 0;
}

/* Buffers lines that fit and writes others directly. */
static int jsonl_buffer(struct tc_instance *inst, const char *p, size_t n)
{
    struct jsonl_state *s = inst->state;
    const int rc = n > sizeof s->buf - s->len ? flush(inst) : 0;
    if (n > sizeof s->buf && put(inst, p, n)) {
        s->lost += p[n - 1] != '\n'; /* the newline is written separately and is not buffered */
        return -1;
    }
    if (n > sizeof s->buf)
        return rc;
    memcpy(s->buf + s->len, p, n);
    s->len += n;
    return rc;
}

/* Canonical lines, or the host's encoding in the requested format. */
static int jsonl_buffer_event(struct tc_turn *turn, const struct tc_event *ev)
{
    const struct jsonl_conf *conf = turn->inst->conf;
    size_t len;
    if (!conf->format && !conf->sse) {
        const int rc = jsonl_buffer(turn->inst, ev->line, ev->line_len);
        return rc | jsonl_buffer(turn->inst, "\n", 1);
    }
    const char *text = tc_encode(turn,
                                 TC_FORMAT(.name = conf->format ? conf->format : "turncast",
                                           .protocol = conf->protocol, .frames = conf->sse),
                                 &len);
    return text ? jsonl_buffer(turn->inst, text, len) : -1;
}

static int on_event(struct tc_turn *turn, const struct tc_event *ev)
{
    const int rc = jsonl_buffer_event(turn, ev);
    return ev->kind == TC_DONE ? rc | flush(turn->inst) : rc;
}

static int init(struct tc_instance *inst)
{
    struct jsonl_state *s = inst->state;
    const struct jsonl_conf *conf = inst->conf;
    s->fd = STDOUT_FILENO;
    if (!conf->path)
        return 0;
    s->fd = open(conf->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    if (s->fd < 0)
        tc_log(inst, TC_ERR, "cannot open %s: %s", conf->path, strerror(errno));
    return s->fd < 0 ? -1 : 0;
}

static void teardown(struct tc_instance *inst)
{
    struct jsonl_state *s = inst->state;
    flush(inst);
    if (s->lost > 0)
        tc_log(inst, TC_ERR, "events lost: %" PRIu64, s->lost);
    if (s->fd > STDERR_FILENO)
        close(s->fd);
}

TURNCAST_PLUGIN(.name = "jsonl", .version = "1.0",
                .summary = "every event as a line of JSON, on standard output or in a file",
                .flags = TC_SEES_ALL, .conf_size = sizeof(struct jsonl_conf),
                .state_size = sizeof(struct jsonl_state), .options = options, .rules = rules,
                .init = init, .teardown = teardown,
                .sink = TC_SINK(.on_event = on_event, .on_idle = flush));
