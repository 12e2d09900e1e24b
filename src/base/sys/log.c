/* SPDX-License-Identifier: MIT
 * Formats and writes log lines. */
#include "base/sys/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/bytes/utf8.h"
#include "base/sys/clock.h"

/* Clears from the second column on, see term_live_hide of the connector cli. */
#define CLEAR_BELOW "\033[K\033[C\033[J\r"
/* Limit of the text before escaping: a line is for people. */
#define TEXT_MAX ((size_t)8 << 10)

static struct {
    _Atomic enum log_format format;
    _Atomic enum log_level max;
    _Atomic int fd;
    _Atomic bool clears_below;
    /* For use by one thread. */
    void (*diverted)(void *ctx, enum log_level level, const char *name, const char *text);
    void *ctx;
} setup = {.format = LOG_TEXT, .max = LOG_WARN, .fd = STDERR_FILENO};

static _Atomic uint64_t lost;

void log_setup(enum log_format format, enum log_level max, int fd)
{
    setup.format = format;
    setup.max = max;
    setup.fd = fd;
}

void log_set_clears_below(bool on)
{
    setup.clears_below = on;
}

void log_divert(void (*to)(void *ctx, enum log_level level, const char *name, const char *text),
                void *ctx)
{
    setup.diverted = to;
    setup.ctx = ctx;
}

bool log_enabled(enum log_level level)
{
    return setup.diverted || level <= setup.max;
}

uint64_t log_lost_count(void)
{
    return atomic_load(&lost);
}

static const char *level_name(enum log_level level)
{
    switch (level) {
    case LOG_ERR:
        return "error";
    case LOG_WARN:
        return "warning";
    case LOG_INFO:
        return "info";
    case LOG_DEBUG:
        break;
    }
    return "debug";
}

/* Characters that move the cursor, end the line or change the direction of text. */
static bool log_is_unsafe(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x61c || cp == 0x200e || cp == 0x200f ||
           (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069);
}

static void add_char(struct buf *line, const char *p, size_t len, uint32_t cp, bool json)
{
    if (cp == '\n')
        buf_add_str(line, "\\n");
    else if (cp == '\t')
        buf_add_str(line, "\\t");
    else if (log_is_unsafe(cp))
        buf_printf(line, "\\u%04x", (unsigned)cp);
    else if (json && (cp == '"' || cp == '\\'))
        buf_add(line, (const char[]){'\\', *p}, 2);
    else
        buf_add(line, p, len);
}

static void log_add_escaped(struct buf *line, struct str text, bool json)
{
    CLEANUP_BUF struct buf valid = {0};
    utf8_repair(&valid, text.p, text.len);
    const size_t end = utf8_truncated_len(valid.p, valid.len, TEXT_MAX);
    for (size_t i = 0, len; i < end; i += len) {
        const uint32_t cp = utf8_decode(valid.p + i, end - i, &len);
        add_char(line, valid.p + i, len, cp, json);
    }
    if (end < valid.len)
        buf_add_str(line, "…");
}

static void add_redacted(struct buf *line, struct str text, bool json)
{
    CLEANUP_BUF struct buf masked = {0};
    log_redact(&masked, text);
    log_add_escaped(line, (struct str){masked.p, masked.len}, json);
}

static void log_compose(struct buf *line, enum log_level level, const char *name, struct str text)
{
    const bool json = setup.format == LOG_JSON;
    char now[32];
    if (setup.clears_below && tcgetpgrp(setup.fd) == getpgrp())
        buf_add_str(line, CLEAR_BELOW);
    clock_format_rfc3339(clock_wall_s(), now);
    buf_printf(line, json ? "{\"ts\":\"%s\",\"level\":\"%s\",\"name\":\"" : "%s %s ", now,
               level_name(level));
    add_redacted(line, (struct str){name, strlen(name)}, json);
    buf_add_str(line, json ? "\",\"text\":\"" : ": ");
    add_redacted(line, text, json);
    buf_add_str(line, json ? "\"}\n" : "\n");
}

/* A single write, so that lines of several threads and processes do not mix. */
static void log_emit(const struct buf *line)
{
    ssize_t n;
    do
        n = write(setup.fd, line->p, line->len);
    while (n < 0 && errno == EINTR);
    if (n < 0 || (size_t)n != line->len)
        atomic_fetch_add(&lost, 1);
}

void log_write(enum log_level level, const char *name, const char *fmt, ...)
{
    if (!log_enabled(level))
        return;
    const int saved = errno;
    CLEANUP_BUF struct buf text = {0}, line = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    if (setup.diverted) {
        setup.diverted(setup.ctx, level, name, text.p ? text.p : "");
        errno = saved;
        return;
    }
    log_compose(&line, level, name, (struct str){text.p, text.len});
    log_emit(&line);
    errno = saved;
}
