/* SPDX-License-Identifier: MIT
 * Reads and replaces the file of an agent. */
#include "core/settings/visibility_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "event/json/json_reader.h"

#define FILE_MAX 4096 /* bytes of a file */

/* ---- reading ---- */

static enum visibility_switch visibility_file_parse_text(struct str raw)
{
    CLEANUP_FREE char *text = xstrndup(raw.p, raw.len);
    return visibility_parse_value(text);
}

/* By the rules of agenticore: a string is on if it says so, another value if Python takes it for
 * true. */
static enum visibility_switch visibility_file_read_value(struct json *j)
{
    struct str raw = {0};
    double number = 0;
    switch (json_reader_peek(j)) {
    case JSON_AT_TRUE:
        json_reader_skip(j, NULL);
        return SHOW_ON;
    case JSON_AT_STRING:
        json_reader_read_string(j, &raw);
        return visibility_file_parse_text(raw);
    case JSON_AT_NUMBER:
        return json_reader_read_real(j, &number) && number != 0 ? SHOW_ON : SHOW_OFF;
    case JSON_AT_NULL:
    case JSON_AT_FALSE:
    case JSON_AT_ARRAY:
    case JSON_AT_OBJECT:
    case JSON_AT_END:
        break;
    }
    json_reader_skip(j, NULL);
    return SHOW_OFF;
}

static void visibility_file_set_switch(struct json *j, struct str key, struct visibility *v)
{
    for (size_t i = 0; i < VISIBILITY_KEYS; i++)
        if (str_is(key, visibility_key(i))) {
            *visibility_switch_at(v, i) = visibility_file_read_value(j);
            return;
        }
    json_reader_skip(j, NULL);
}

static int visibility_file_parse(const char *path, const char *text, size_t len,
                                 struct visibility *shown, struct tc_err *err)
{
    struct visibility v = {SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET};
    struct json j;
    struct str key;
    json_init(&j, text, len);
    if (json_reader_peek(&j) != JSON_AT_OBJECT)
        return err_set(err, path, "not a JSON object");
    json_reader_enter_object(&j);
    while (json_reader_next_key(&j, &key))
        visibility_file_set_switch(&j, key, &v);
    if (json_reader_finish(&j) < 0)
        return err_set(err, path, "not valid JSON: %s", j.error);
    *shown = visibility_resolve(v);
    return 0;
}

static char *visibility_file_path(const char *directory, const char *agent)
{
    return xasprintf("%s/%s.json", directory, agent);
}

int visibility_file_read(const char *directory, const char *agent, struct visibility_row *row,
                         struct tc_err *err)
{
    CLEANUP_FREE char *path = visibility_file_path(directory, agent);
    CLEANUP_FD const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    char text[FILE_MAX + 1];
    struct stat st;
    if (fd < 0 && errno == ENOENT)
        return 0;
    const ssize_t n = fd < 0 || fstat(fd, &st) < 0 ? -1 : read(fd, text, sizeof text);
    if (n < 0)
        return err_set_errno(err, errno, path, "cannot read");
    if (n > FILE_MAX)
        return err_set(err, path, "more than %d bytes", FILE_MAX);
    if (visibility_file_parse(path, text, (size_t)n, &row->shown, err) < 0)
        return -1;
    row->saved_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    return 1;
}

/* ---- writing ---- */

static int visibility_file_put(const char *path, int fd, struct visibility shown,
                               struct tc_err *err)
{
    CLEANUP_BUF struct buf text = {0};
    for (size_t i = 0; i < VISIBILITY_KEYS; i++)
        buf_printf(&text, "%s\"%s\": %s", i ? ", " : "{", visibility_key(i),
                   *visibility_switch_at(&shown, i) == SHOW_ON ? "true" : "false");
    buf_add_char(&text, '}');
    if (write(fd, text.p, text.len) == (ssize_t)text.len && fsync(fd) == 0)
        return 0;
    return err_set_errno(err, errno ? errno : ENOSPC, path, "cannot write");
}

int visibility_file_write(const char *directory, const char *agent, struct visibility shown,
                          struct tc_err *err)
{
    CLEANUP_FREE char *path = visibility_file_path(directory, agent);
    CLEANUP_FREE char *draft = xasprintf("%s.%d.tmp", path, (int)getpid());
    mkdir(directory, 0700);
    CLEANUP_FD const int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set_errno(err, errno, draft, "cannot create");
    int rc = visibility_file_put(draft, fd, shown, err);
    if (rc == 0 && rename(draft, path) < 0)
        rc = err_set_errno(err, errno, path, "cannot replace");
    if (rc < 0)
        unlink(draft);
    return rc;
}
