/* SPDX-License-Identifier: MIT
 * Owns the file that is being fetched, and the prompt as far as its files are known. */
#include "core/runner/runner_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/dir.h"
#include "base/sys/log.h"
#include "core/work/work_files.h"
#include "io/http/client/download.h"

#define AGAIN_MS 500
#define KEPT_S ((int64_t)24 * 3600) /* as those of an instance */

struct runner_files {
    struct bus *bus;
    char *gateway, *turn, *paths, *dir;
    struct buf prompt;
    struct loop_timer *timer;
    size_t number; /* of the file that is being fetched, or comes next */
    struct download file;
    int64_t until_ms; /* monotonic: deadline of all files */
    int64_t away_ms;  /* monotonic: begin of the time without a part; 0: the last request got one */
    struct runner_files_request *request; /* the request in flight; or NULL */
    void (*done)(void *ctx, struct str prompt);
    void *ctx;
};

/* The reply may come when the fetch has been freed. */
struct runner_files_request {
    struct runner_files *files; /* NULL: freed */
};

static void runner_files_fetch_next(struct runner_files *f);

/* ---- the end of a file ---- */

/* why NULL: it is complete. */
static void runner_files_end_one(struct runner_files *f, const char *why)
{
    CLEANUP_BUF struct buf prompt = {0};
    CLEANUP_FREE char *path = work_files_path(f->paths, f->number);
    CLEANUP_FREE char *local = why ? NULL : xstrdup(f->file.path);
    if (why)
        log_write(LOG_WARN, "bus", "turn %s of host %s: cannot fetch a file of its message: %s",
                  f->turn, f->gateway, why);
    work_files_replace(&prompt, (struct str){f->prompt.p, f->prompt.len}, path, local);
    buf_reset(&f->prompt);
    buf_add(&f->prompt, prompt.p, prompt.len);
    download_finish(&f->file, !why);
    f->number++;
    f->away_ms = 0;
    loop_timer_set(f->timer, 0);
}

/* Retries the request, or fails the file after RUNNER_FILES_AWAY_MS or the deadline. */
static void runner_files_wait(struct runner_files *f, const char *why)
{
    const int64_t now = clock_mono_ms();
    f->away_ms = f->away_ms ? f->away_ms : now;
    if (now - f->away_ms >= RUNNER_FILES_AWAY_MS || now >= f->until_ms)
        runner_files_end_one(f, why);
    else
        loop_timer_set(f->timer, AGAIN_MS);
}

/* ---- parts ---- */

static void runner_files_store_part(struct runner_files *f, const struct work_files_reply *reply)
{
    f->away_ms = 0;
    if (!f->file.path && download_open(&f->file, f->dir) < 0)
        runner_files_end_one(f, strerror(errno));
    else if (download_write(&f->file, reply->bytes.p, reply->bytes.len) < 0)
        runner_files_end_one(f, "disk error, or more than 20 MiB");
    else if ((int64_t)f->file.len >= reply->size)
        runner_files_end_one(f, NULL);
    else
        runner_files_fetch_next(f);
}

static const char *runner_files_describe(enum nats_client_result result)
{
    switch (result) {
    case NATS_CLIENT_NOBODY:
        return "the host is not connected to the bus";
    case NATS_CLIENT_UNSENT:
        return "this host is not connected to the bus";
    case NATS_CLIENT_UNKNOWN:
    case NATS_CLIENT_REPLIED:
        break;
    }
    return "the host does not answer";
}

static void runner_files_on_part(void *ctx, enum nats_client_result result, struct str body)
{
    struct runner_files_request *const request = ctx;
    struct runner_files *const f = request->files;
    struct work_files_reply reply;
    free(request);
    if (!f)
        return;
    f->request = NULL;
    if (result != NATS_CLIENT_REPLIED)
        runner_files_wait(f, runner_files_describe(result));
    else if (work_files_read_reply(body, (int64_t)f->file.len, &reply) < 0)
        runner_files_end_one(f, "the reply is not valid");
    else if (reply.result == WORK_FILES_UNKNOWN)
        runner_files_wait(f, "the host does not know the turn");
    else if (reply.result == WORK_FILES_GONE)
        runner_files_end_one(f, "the host does not have it any more");
    else
        runner_files_store_part(f, &reply);
}

static void runner_files_request_part(struct runner_files *f)
{
    CLEANUP_BUF struct buf body = {0};
    f->request = xmalloc(sizeof *f->request);
    f->request->files = f;
    work_files_write_request(&body, &(struct work_files_request){.turn = f->turn,
                                                                 .number = (int64_t)f->number,
                                                                 .offset = (int64_t)f->file.len});
    bus_ask(f->bus, f->gateway, "file", (struct str){body.p, body.len}, runner_files_on_part,
            f->request);
}

static void runner_files_fetch_next(struct runner_files *f)
{
    if (f->request)
        return;
    if (f->number >= work_files_count(f->paths))
        f->done(f->ctx, (struct str){f->prompt.p ? f->prompt.p : "", f->prompt.len});
    else if (f->number >= WORK_FILES_MAX)
        runner_files_end_one(f, "the message has too many files");
    else if (clock_mono_ms() >= f->until_ms)
        runner_files_end_one(f, "not there within 60 s");
    else
        runner_files_request_part(f);
}

static void runner_files_on_timer(void *arg)
{
    runner_files_fetch_next(arg);
}

/* ---- create and free ---- */

/* Without a directory each file fails when it is opened. */
static void runner_files_open_dir(const struct runner_files *f)
{
    struct tc_err err = {0};
    if (dir_create_all(f->dir, &err) < 0)
        log_write(LOG_ERR, "bus", "cannot create the directory for files: %s", err_format(&err));
    download_remove_old(f->dir, KEPT_S);
}

struct runner_files *runner_files_fetch(const struct runner_files_spec *spec,
                                        void (*done)(void *ctx, struct str prompt), void *ctx)
{
    struct runner_files *const f = xcalloc(1, sizeof *f);
    *f = (struct runner_files){.bus = spec->bus,
                               .gateway = xstrdup(spec->gateway),
                               .turn = xstrdup(spec->turn),
                               .paths = xstrdup(spec->paths),
                               .dir = xstrdup(spec->dir),
                               .timer = loop_timer_new(spec->loop, runner_files_on_timer, f),
                               .until_ms = clock_mono_ms() + RUNNER_FILES_MS,
                               .done = done,
                               .ctx = ctx};
    f->file.fd = -1;
    buf_add(&f->prompt, spec->prompt.p, spec->prompt.len);
    runner_files_open_dir(f);
    loop_timer_set(f->timer, 0);
    return f;
}

void runner_files_free(struct runner_files *f)
{
    if (!f)
        return;
    if (f->request)
        f->request->files = NULL;
    download_finish(&f->file, false);
    loop_timer_free(f->timer);
    buf_fini(&f->prompt);
    free(f->gateway);
    free(f->turn);
    free(f->paths);
    free(f->dir);
    free(f);
}
