/* SPDX-License-Identifier: MIT
 * Redirects standard output to a memory file. */
#include "cli/testing/fake/output_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int output_capture_begin(struct output_capture *c, FILE **before, struct tc_err *err)
{
    *c = (struct output_capture){.fd = memfd_create("stdout", MFD_CLOEXEC)};
    fflush(stdout);
    const int saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    *before = saved < 0 ? NULL : fdopen(saved, "w");
    if (c->fd < 0 || !*before || dup2(c->fd, STDOUT_FILENO) < 0)
        return err_set_errno(err, errno, "standard output", "cannot capture it");
    return 0;
}

void output_capture_fini(struct output_capture *c)
{
    close(c->fd);
    buf_fini(&c->text);
}

static void output_capture_read(struct output_capture *c)
{
    char piece[4096];
    fflush(stdout);
    for (ssize_t n; (n = pread(c->fd, piece, sizeof piece, (off_t)c->text.len)) > 0;)
        buf_add(&c->text, piece, (size_t)n);
}

const char *output_capture_peek(struct output_capture *c)
{
    output_capture_read(c);
    return c->text.p ? c->text.p + c->taken : "";
}

bool output_capture_take(struct output_capture *c, const char *text)
{
    const char *const from = output_capture_peek(c);
    const char *const at = strstr(from, text);
    if (at)
        c->taken += (size_t)(at - from) + strlen(text);
    return at;
}

void output_capture_clear(struct output_capture *c)
{
    output_capture_read(c);
    c->taken = c->text.len;
}
