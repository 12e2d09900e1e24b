/* SPDX-License-Identifier: MIT
 * Gives the files of a turn to the host that runs it (request "file"): only those that this host
 * has downloaded for a person's message, and only while the turn is away. Finds the files of an
 * adopted turn on this host. Loop thread only. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "core/work/work_files.h"
#include "core/work/work_internal.h"
#include "io/http/client/download.h"

char *work_files_dir(const struct work *w, const char *source)
{
    return xasprintf("%s/%s/files", w->instances, source);
}

bool work_has_files(const struct work *w, const char *source, struct str prompt)
{
    CLEANUP_BUF struct buf paths = {0};
    CLEANUP_FREE char *dir = work_files_dir(w, source);
    work_files_find(&paths, prompt, dir);
    return paths.len > 0;
}

static bool work_files_is_there(const char *path)
{
    return access(path, R_OK) == 0;
}

void work_adopt_prompt(const struct work *w, const char *source, struct str prompt, struct buf *out)
{
    CLEANUP_FREE char *dir = work_files_dir(w, source);
    work_files_adopt(out, prompt, dir, work_files_is_there);
}

static const struct work_run *work_files_find_run(const struct work *w, const char *turn)
{
    const struct work_run *r;
    LIST_FOREACH (r, &w->runs, next)
        if (strcmp(r->order.turn, turn) == 0)
            return r;
    return NULL;
}

static ssize_t work_files_read_at(int fd, char *to, int64_t offset)
{
    ssize_t n;
    do
        n = pread(fd, to, WORK_FILES_CHUNK_BYTES, offset);
    while (n < 0 && errno == EINTR);
    return n;
}

/* The bytes are in `to`. */
static void work_files_read_part(const char *path, int64_t offset, char *to,
                                 struct work_files_reply *reply)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= DOWNLOAD_MAX_BYTES) {
        const ssize_t n = work_files_read_at(fd, to, offset);
        if (n >= 0)
            *reply = (struct work_files_reply){WORK_FILES_BYTES, st.st_size, {to, (size_t)n}};
    }
    close(fd);
}

/* The order may have been read back from the servers, so its paths are checked like any input. */
static void work_files_look_up(const struct work *w, const struct work_files_request *request,
                               char *to, struct work_files_reply *reply)
{
    const struct work_run *const r = work_files_find_run(w, request->turn);
    if (!r || r->state == RUN_RECALL)
        return;
    reply->result = WORK_FILES_GONE;
    CLEANUP_FREE char *dir = work_files_dir(w, r->order.source);
    CLEANUP_FREE char *path = work_files_path(r->order.files, (size_t)request->number);
    if (path && work_files_is_download(path, dir))
        work_files_read_part(path, request->offset, to, reply);
    if (reply->result == WORK_FILES_GONE)
        log_write(LOG_WARN, "bus", "turn %s: its host asks for a file that is not there any more",
                  request->turn);
}

static void work_files_on_request(void *ctx, struct bus_call *call, struct str body)
{
    const struct work *const w = ctx;
    CLEANUP_BUF struct buf out = {0};
    CLEANUP_FREE char *bytes = xmalloc(WORK_FILES_CHUNK_BYTES);
    struct arena arena = {0};
    struct work_files_request request;
    struct work_files_reply reply = {.result = WORK_FILES_UNKNOWN};
    if (w->bus && work_files_read_request(body, &arena, &request) == 0)
        work_files_look_up(w, &request, bytes, &reply);
    work_files_write_reply(&out, &reply);
    bus_call_answer(call, (struct str){out.p, out.len});
    arena_fini(&arena);
}

void work_files_serve(struct work *w)
{
    bus_serve(w->bus, "file", work_files_on_request, w);
}
