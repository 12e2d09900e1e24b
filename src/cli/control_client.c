/* SPDX-License-Identifier: MIT
 * One HTTP request over the control socket: sends it, reads and parses the response. */
#include "cli/control_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/control/control.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "cli/oneshot_host.h"
#include "event/json/json_value.h"
#include "io/loop/line_splitter.h"

#define WAIT_S 60
#define ANSWER_MAX ((size_t)16 << 20)

/* Connects. Returns a socket, or -1 with errno. */
static int control_client_connect(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const struct timeval wait = {.tv_sec = WAIT_S};
    if (strlen(path) >= sizeof at.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(at.sun_path, path, strlen(path) + 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    if (connect(fd, (const struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    const int no = errno;
    close(fd);
    errno = no;
    return -1;
}

static int control_client_send_all(int fd, const struct buf *request)
{
    size_t sent = 0;
    while (sent < request->len) {
        const ssize_t n = send(fd, request->p + sent, request->len - sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return -1;
        sent += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Reads to the end of the connection. */
static int control_client_read_all(int fd, struct buf *answer)
{
    char piece[16384];
    for (;;) {
        const ssize_t n = read(fd, piece, sizeof piece);
        if (n == 0)
            return 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || answer->len + (size_t)n > ANSWER_MAX)
            return -1;
        buf_add(answer, piece, (size_t)n);
    }
}

/* Status of a line "HTTP/1.1 200 …". */
static int control_client_status_of(const struct buf *answer)
{
    return answer->p && strncmp(answer->p, "HTTP/1.1 ", 9) == 0
               ? (int)strtol(answer->p + 9, NULL, 10)
               : 0;
}

static int control_client_ask(struct control_response *c, const struct conf *conf,
                              const struct buf *request, struct tc_err *err)
{
    CLEANUP_FREE char *socket_path = control_socket_path(conf->state_dir);
    CLEANUP_FD const int fd = control_client_connect(socket_path);
    CLEANUP_BUF struct buf answer = {0};
    *c = (struct control_response){0};
    if (fd < 0 && (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR))
        return 0;
    if (fd < 0)
        return err_set_errno(err, errno, socket_path, "cannot connect to turncast serve");
    if (control_client_send_all(fd, request) < 0 || control_client_read_all(fd, &answer) < 0)
        return err_set_errno(err, errno, socket_path, "turncast serve does not respond");
    c->status = control_client_status_of(&answer);
    const char *const body = answer.p ? strstr(answer.p, "\r\n\r\n") : NULL;
    c->body = body ? json_loads(body, 0, NULL) : NULL;
    return c->status ? 0 : err_set(err, socket_path, "turncast serve does not respond");
}

static void control_client_add_request_head(struct buf *request, const char *method,
                                            const char *path, size_t len)
{
    buf_printf(request,
               "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
               "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
               method, path, len);
}

int control_client_request(struct control_response *c, const struct conf *conf, const char *method,
                           const char *path, const json_t *body, struct tc_err *err)
{
    CLEANUP_BUF struct buf request = {0};
    CLEANUP_FREE char *text = json_value_text(body);
    control_client_add_request_head(&request, method, path, text ? strlen(text) : 0);
    buf_add_str(&request, text ? text : "");
    return control_client_ask(c, conf, &request, err);
}

int control_client_call(struct control_response *c, const struct conf *conf, const char *method,
                        const char *path, const json_t *body)
{
    struct tc_err err = {0};
    const int rc = control_client_request(c, conf, method, path, body, &err);
    if (rc < 0)
        command_conf_print_error(&err);
    return rc;
}

void control_client_fini(struct control_response *c)
{
    json_decref(c->body);
    *c = (struct control_response){0};
}

const char *control_client_error_text(const struct control_response *c)
{
    const char *const text =
        json_string_value(json_object_get(json_object_get(c->body, "error"), "message"));
    return text ? text : "turncast serve rejected the command without a reason";
}

void control_client_print_no_host(const struct conf *conf)
{
    fprintf(stderr, "turncast: turncast serve is not running (state directory %s)\n",
            conf->state_dir);
}

int control_client_check(const struct control_response *c, const struct conf *conf)
{
    if (c->status == 200 && c->body)
        return 0;
    if (c->status)
        fprintf(stderr, "turncast: %s\n", control_client_error_text(c));
    else
        control_client_print_no_host(conf);
    return EXIT_TURN_ERROR;
}

static int control_client_show_answer(const struct conf *conf, bool json, const char *path,
                                      void (*print)(const json_t *body))
{
    struct control_response c;
    if (control_client_call(&c, conf, "GET", path, NULL) < 0)
        return EXIT_TURN_ERROR;
    const int status = control_client_check(&c, conf);
    if (!status)
        (json ? json_value_print : print)(c.body);
    control_client_fini(&c);
    return status;
}

int control_client_show(const struct args *args, const char *path,
                        void (*print)(const json_t *body))
{
    struct conf *const conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    const int status = control_client_show_answer(conf, args->json, path, print);
    conf_unref(conf);
    return status;
}

/* ---- streams ---- */

struct control_stream {
    bool (*data)(void *ctx, const char *line, size_t len);
    void *ctx;
    bool in_body;
    bool typed; /* the message has an explicit type */
    bool over;  /* the caller wants no more messages */
    int status; /* HTTP status */
};

static bool control_client_begins_with(const char *p, size_t len, const char *text, size_t n)
{
    return len >= n && memcmp(p, text, n) == 0;
}

static void control_client_on_stream_line(void *ctx, const char *p, size_t len, bool complete)
{
    static const char http[] = "HTTP/1.1 ", event[] = "event: ", data[] = "data: ";
    struct control_stream *const f = ctx;
    if (!complete || f->over)
        return;
    if (!f->in_body && !f->status && control_client_begins_with(p, len, http, sizeof http - 1))
        f->status = (int)strtol(p + sizeof http - 1, NULL, 10);
    else if (len == 0)
        f->typed = !(f->in_body = true);
    else if (f->in_body && control_client_begins_with(p, len, event, sizeof event - 1))
        f->typed = true;
    else if (f->in_body && f->status == 200 && !f->typed &&
             control_client_begins_with(p, len, data, sizeof data - 1))
        f->over = !f->data(f->ctx, p + sizeof data - 1, len - (sizeof data - 1));
}

static void control_client_on_stream_dropped(void *ctx, uint64_t bytes)
{
    (void)ctx;
    fprintf(stderr, "turncast: left out an event of %llu bytes\n", (unsigned long long)bytes);
}

static int control_client_read_stream(int fd, struct control_stream *f)
{
    char piece[16384];
    struct line_splitter lines = {.line = control_client_on_stream_line,
                                  .dropped = control_client_on_stream_dropped,
                                  .ctx = f,
                                  .cap = ANSWER_MAX};
    ssize_t n = 1;
    while (n != 0 && !f->over) {
        n = read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        line_splitter_feed(&lines, piece, (size_t)n);
    }
    line_splitter_fini(&lines);
    return n < 0 ? -1 : 0;
}

int control_client_follow(const struct conf *conf, const char *path,
                          bool (*data)(void *ctx, const char *line, size_t len), void *ctx,
                          struct tc_err *err)
{
    CLEANUP_FREE char *socket_path = control_socket_path(conf->state_dir);
    CLEANUP_FD const int fd = control_client_connect(socket_path);
    CLEANUP_BUF struct buf request = {0};
    struct control_stream f = {.data = data, .ctx = ctx};
    if (fd < 0)
        return err_set_errno(err, errno, socket_path, "cannot connect to turncast serve");
    /* Sends HTTP/1.0, so that the response is not chunked. */
    buf_printf(&request, "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", path);
    if (control_client_send_all(fd, &request) < 0 || control_client_read_stream(fd, &f) < 0)
        return err_set_errno(err, errno, socket_path, "turncast serve does not respond");
    return f.status == 200
               ? 0
               : err_set(err, socket_path, "turncast serve answered with status %d", f.status);
}
