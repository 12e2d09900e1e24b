/* SPDX-License-Identifier: MIT
 * Reads standard error of an instance's process: log lines are forwarded under the instance's name,
 * and so is other output. Above a rate, lines are counted and dropped. */
#include <errno.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/plural.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "event/json/json_reader.h"
#include "plugin/process/connector_process.h"

#define READ_SIZE 16384
#define LINE_MAX_LEN ((size_t)8 << 10)
#define LINES_PER_S 200
#define ROUNDS 16

static enum log_level connector_log_pipe_level_of(struct str name)
{
    return str_is(name, "error")     ? LOG_ERR
           : str_is(name, "warning") ? LOG_WARN
           : str_is(name, "debug")   ? LOG_DEBUG
                                     : LOG_INFO;
}

/* Parses a line of log.c; NULL: other output. */
static const char *read_log_line(struct str line, struct arena *a, enum log_level *level)
{
    const char *text = NULL;
    struct json j;
    struct str key, raw;
    if (!json_reader_open_object(&j, line))
        return NULL;
    while (json_reader_next_key(&j, &key)) {
        if (str_is(key, "level") && json_reader_read_string(&j, &raw))
            *level = connector_log_pipe_level_of(raw);
        else if (str_is(key, "text") && json_reader_read_string(&j, &raw))
            text = json_reader_unescape(a, raw, NULL);
        else
            json_reader_skip(&j, NULL);
    }
    return json_reader_finish(&j) == 0 ? text : NULL;
}

/* False: the rate limit is exceeded. */
static bool may_print(struct connector_process *g)
{
    const int64_t second = clock_mono_ms() / 1000;
    if (second != g->log.second) {
        if (g->log.suppressed)
            log_write(LOG_WARN, g->conf.label, "dropped %u line%s of output (limit: %d per second)",
                      g->log.suppressed, PLURAL(g->log.suppressed, "", "s"), LINES_PER_S);
        g->log.second = second;
        g->log.lines = g->log.suppressed = 0;
    }
    if (g->log.lines < LINES_PER_S) {
        g->log.lines++;
        return true;
    }
    g->log.suppressed++;
    return false;
}

static void connector_log_pipe_log_line(struct connector_process *g, struct str line)
{
    struct arena arena = {0};
    enum log_level level = LOG_INFO;
    if (!line.len || !may_print(g))
        return;
    const char *const text = read_log_line(line, &arena, &level);
    if (text)
        log_write(level, g->conf.label, "%s", text);
    else if (str_has_prefix(line, STR(ASSERT_PREFIX)))
        log_write(LOG_ERR, g->conf.label, "%.*s", (int)line.len, line.p);
    else
        log_write(LOG_INFO, g->conf.label, "output: %.*s", (int)line.len, line.p);
    arena_fini(&arena);
}

static void connector_log_pipe_log_lines(struct connector_process *g)
{
    struct buf *const b = &g->log.line;
    size_t at = 0;
    for (const char *end; (end = memchr(b->p + at, '\n', b->len - at));) {
        const size_t len = (size_t)(end - b->p) - at;
        connector_log_pipe_log_line(
            g, (struct str){b->p + at, len < LINE_MAX_LEN ? len : LINE_MAX_LEN});
        at += len + 1;
    }
    buf_consume(b, at);
    if (b->len > LINE_MAX_LEN) {
        connector_log_pipe_log_line(g, (struct str){b->p, LINE_MAX_LEN});
        buf_reset(b);
    }
}

void connector_log_pipe_read(struct connector_process *g)
{
    for (int i = 0; i < ROUNDS; i++) {
        const ssize_t n =
            read(g->sup.child.output, buf_reserve(&g->log.line, READ_SIZE), READ_SIZE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0 && g->sup.output)
            loop_fd_set(g->sup.output, 0); /* the process has closed it */
        if (n <= 0)
            return;
        g->log.line.len += (size_t)n;
        connector_log_pipe_log_lines(g);
    }
}

void connector_log_pipe_flush(struct connector_process *g)
{
    if (g->log.line.len)
        connector_log_pipe_log_line(g, (struct str){g->log.line.p, g->log.line.len});
    buf_reset(&g->log.line);
}

void connector_log_pipe_fini(struct connector_process *g)
{
    buf_fini(&g->log.line);
}
