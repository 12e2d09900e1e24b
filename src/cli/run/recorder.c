/* SPDX-License-Identifier: MIT
 * Writes the two files of a recording. */
#include "cli/run/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "cli/run/replay_clock.h"
#include "event/json/json_redact.h"
#include "event/json/json_writer.h"

static void recorder_fail(struct recorder *r, const char *path)
{
    if (!r->failed)
        log_write(LOG_ERR, "host", "cannot write %s: %s; the recording is incomplete", path,
                  strerror(errno));
    r->failed = true;
}

/* Mode 0600: the agent's output may be confidential. */
static FILE *create_file(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *const f = fd < 0 ? NULL : fdopen(fd, "w");
    if (fd >= 0 && !f)
        close(fd);
    return f;
}

static void recorder_on_line(void *ctx, const char *p, size_t len, bool complete)
{
    struct recorder *const r = ctx;
    CLEANUP_BUF struct buf masked = {0};
    const int64_t now_ms = clock_mono_ms();
    if (!r->begun)
        r->began_ms = now_ms;
    buf_printf(&r->times, "%s%" PRId64, r->begun ? "," : "", now_ms - r->began_ms);
    r->begun = true;
    if (len > 0 && p[0] == '{')
        json_redact(&masked, (struct str){p, len});
    else
        log_redact(&masked, (struct str){p, len});
    if (complete)
        buf_add_char(&masked, '\n');
    if (fwrite(masked.p ? masked.p : "", 1, masked.len, r->out) != masked.len)
        recorder_fail(r, r->path);
}

static void recorder_on_dropped(void *ctx, uint64_t bytes)
{
    const struct recorder *const r = ctx;
    log_write(LOG_WARN, "host", "%s: left out a line of %" PRIu64 " bytes (limit: max_line_bytes)",
              r->path, bytes);
}

int recorder_open(struct recorder *r, const char *path, const char *agent, const char *dialect,
                  size_t max_line, struct tc_err *err)
{
    *r = (struct recorder){.path = path, .agent = agent, .dialect = dialect};
    if (!path)
        return 0;
    r->out = create_file(path);
    if (!r->out)
        return err_set_errno(err, errno, path, "cannot create");
    r->lines = (struct line_splitter){
        .line = recorder_on_line, .dropped = recorder_on_dropped, .ctx = r, .cap = max_line};
    return 0;
}

void recorder_feed(struct recorder *r, const char *p, size_t n)
{
    if (r->out)
        line_splitter_feed(&r->lines, p, n);
}

static void write_times(struct recorder *r)
{
    CLEANUP_FREE char *path = replay_clock_meta_path(r->path);
    CLEANUP_BUF struct buf text = {0};
    FILE *const f = create_file(path);
    buf_add_char(&text, '{');
    jsonw_member_str(&text, "agent", r->agent);
    jsonw_member_str(&text, "dialect", r->dialect);
    buf_printf(&text, ",\"line_ms\":[%s]}\n", r->times.p ? r->times.p : "");
    const bool written = f && fwrite(text.p, 1, text.len, f) == text.len;
    if ((f && fclose(f) != 0) || !written)
        recorder_fail(r, path);
}

void recorder_close(struct recorder *r)
{
    if (!r->out)
        return;
    line_splitter_finish(&r->lines);
    line_splitter_fini(&r->lines);
    if (fclose(r->out) != 0)
        recorder_fail(r, r->path);
    r->out = NULL;
    write_times(r);
    buf_fini(&r->times);
}
