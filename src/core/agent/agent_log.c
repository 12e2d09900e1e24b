/* SPDX-License-Identifier: MIT
 * Formats the messages. The log masks secrets. */
#include "core/agent/agent_log.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "base/bytes/buf.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"

#define COMMAND_BYTES 4000 /* longest logged command */

void agent_log_start(struct agent_log *l, const char *name, const char *const *argv,
                     const char *cwd)
{
    CLEANUP_BUF struct buf text = {0};
    *l = (struct agent_log){.name = name, .began_ms = clock_mono_ms()};
    for (size_t i = 0; argv[i] && text.len < COMMAND_BYTES && log_enabled(LOG_DEBUG); i++)
        buf_printf(&text, "%s%s", i ? " " : "", argv[i]);
    log_write(LOG_DEBUG, name, "starting in %s: %.*s%s", cwd ? cwd : ".",
              text.len < COMMAND_BYTES ? (int)text.len : COMMAND_BYTES, text.p ? text.p : "",
              text.len < COMMAND_BYTES ? "" : "…");
}

void agent_log_output(struct agent_log *l, size_t n)
{
    if (l->out == 0)
        log_write(LOG_DEBUG, l->name, "first output after %" PRId64 " ms",
                  clock_mono_ms() - l->began_ms);
    l->out += n;
}

void agent_log_error(struct agent_log *l, const char *p, size_t n)
{
    l->err += n;
    while (n > 0 && log_enabled(LOG_DEBUG)) {
        const char *const newline = memchr(p, '\n', n);
        const size_t len = newline ? (size_t)(newline - p) : n;
        if (len > 0)
            log_write(LOG_DEBUG, l->name, "stderr: %.*s",
                      len < COMMAND_BYTES ? (int)len : COMMAND_BYTES, p);
        p += newline ? len + 1 : len;
        n -= newline ? len + 1 : len;
    }
}

void agent_log_exit(const struct agent_log *l, pid_t pid, int status)
{
    const bool killed = WIFSIGNALED(status);
    log_write(LOG_DEBUG, l->name,
              "process %d ended with %s %d after %" PRId64 " ms (stdout: %" PRIu64
              " bytes, stderr: %" PRIu64 " bytes)",
              (int)pid, killed ? "signal" : "status",
              killed ? WTERMSIG(status) : WEXITSTATUS(status), clock_mono_ms() - l->began_ms,
              l->out, l->err);
}
