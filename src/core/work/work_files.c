/* SPDX-License-Identifier: MIT
 * Reads and replaces lines "[file: PATH (NAME)]" of a prompt. */
#include "core/work/work_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/bus/bus_message.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"
#include "io/http/client/download.h"
#include "text/file_line.h"

#define FAILED ": download failed]"

/* ---- lines of a prompt ---- */

/* The next line, with its newline. False: the end. */
static bool work_files_next_line(struct str *rest, struct str *line)
{
    if (!rest->len)
        return false;
    const char *const end = memchr(rest->p, '\n', rest->len);
    const size_t len = end ? (size_t)(end - rest->p) + 1 : rest->len;
    *line = (struct str){rest->p, len};
    *rest = (struct str){rest->p + len, rest->len - len};
    return true;
}

static struct str work_files_trim(struct str line)
{
    return (struct str){line.p, line.len - (line.len && line.p[line.len - 1] == '\n')};
}

bool work_files_is_download(const char *path, const char *dir)
{
    const size_t len = strlen(dir);
    return strncmp(path, dir, len) == 0 && path[len] == '/' && download_is_name(path + len + 1);
}

/* The name of the file if it is one that a host has downloaded, into any directory; owned. NULL: it
 * is not. */
static char *work_file_download_name(struct str path)
{
    const char *const slash = memrchr(path.p, '/', path.len);
    if (!slash)
        return NULL;
    char *const name = xstrndup(slash + 1, path.len - (size_t)(slash + 1 - path.p));
    if (download_is_name(name))
        return name;
    free(name);
    return NULL;
}

/* ---- lists of paths ---- */

size_t work_files_count(const char *paths)
{
    size_t n = 0;
    for (; paths && *paths; paths += strcspn(paths, "\n"), paths += *paths == '\n')
        n++;
    return n;
}

char *work_files_path(const char *paths, size_t number)
{
    for (; paths && *paths && number; number--) {
        paths += strcspn(paths, "\n");
        paths += *paths == '\n';
    }
    return paths && *paths ? xstrndup(paths, strcspn(paths, "\n")) : NULL;
}

/* Whether one of the lines is that path. */
static bool work_files_has(const struct buf *paths, const char *path)
{
    const size_t n = paths->len ? work_files_count(paths->p) : 0;
    for (size_t i = 0; i < n; i++) {
        char *const one = work_files_path(paths->p, i);
        const bool is_same = strcmp(one, path) == 0;
        free(one);
        if (is_same)
            return true;
    }
    return false;
}

void work_files_find(struct buf *paths, struct str prompt, const char *dir)
{
    struct str rest = prompt, line;
    struct file_line f;
    for (size_t n = 0; n < WORK_FILES_MAX && work_files_next_line(&rest, &line);) {
        if (!file_line_read(&f, work_files_trim(line)))
            continue;
        char *const path = xstrndup(f.path.p, f.path.len);
        if (work_files_is_download(path, dir) && !work_files_has(paths, path)) {
            buf_printf(paths, "%s%s", n ? "\n" : "", path);
            n++;
        }
        free(path);
    }
}

static void work_files_add_line(struct buf *out, const struct file_line *f, const char *local)
{
    const struct str name = f->name.len ? f->name : STR("file");
    if (local)
        file_line_append(out, local, f->rest);
    else
        buf_printf(out, "[%.*s" FAILED, (int)name.len, name.p);
}

void work_files_replace(struct buf *out, struct str prompt, const char *path, const char *local)
{
    struct str rest = prompt, line;
    struct file_line f;
    while (work_files_next_line(&rest, &line)) {
        const struct str text = work_files_trim(line);
        const bool is_it = file_line_read(&f, text) && f.path.len == strlen(path) &&
                           memcmp(f.path.p, path, f.path.len) == 0;
        if (is_it)
            work_files_add_line(out, &f, local);
        else
            buf_add(out, text.p, text.len);
        if (text.len < line.len)
            buf_add_char(out, '\n');
    }
}

void work_files_adopt(struct buf *out, struct str prompt, const char *dir,
                      bool (*is_there)(const char *path))
{
    struct str rest = prompt, line;
    struct file_line f;
    while (work_files_next_line(&rest, &line)) {
        const struct str text = work_files_trim(line);
        char *const name = file_line_read(&f, text) ? work_file_download_name(f.path) : NULL;
        if (name) {
            char *const local = xasprintf("%s/%s", dir, name);
            work_files_add_line(out, &f, is_there(local) ? local : NULL);
            free(local);
            free(name);
        } else {
            buf_add(out, text.p, text.len);
        }
        if (text.len < line.len)
            buf_add_char(out, '\n');
    }
}

/* ---- messages ---- */

void work_files_write_request(struct buf *out, const struct work_files_request *r)
{
    buf_add_char(out, '{');
    jsonw_member_str(out, "turn", r->turn);
    jsonw_member_int(out, "file", r->number);
    jsonw_member_int(out, "offset", r->offset);
    buf_add_char(out, '}');
}

int work_files_read_request(struct str message, struct arena *a, struct work_files_request *r)
{
    const struct str turn = bus_message_text(message, "/turn");
    *r = (struct work_files_request){.turn = json_reader_unescape(a, turn, NULL),
                                     .number = bus_message_number(message, "/file"),
                                     .offset = bus_message_number(message, "/offset")};
    return turn.len && r->turn && r->number >= 0 && r->offset >= 0 ? 0 : -1;
}

static const char *const results[] = {
    [WORK_FILES_BYTES] = "bytes", [WORK_FILES_UNKNOWN] = "unknown", [WORK_FILES_GONE] = "gone"};

void work_files_write_reply(struct buf *out, const struct work_files_reply *r)
{
    buf_add_char(out, '{');
    jsonw_member_str(out, "result", results[r->result]);
    if (r->result == WORK_FILES_BYTES)
        jsonw_member_int(out, "size", r->size);
    buf_add_str(out, "}\n");
    if (r->result == WORK_FILES_BYTES)
        buf_add(out, r->bytes.p, r->bytes.len);
}

/* An empty reply before the end of the file would be asked for again without end. */
static bool work_files_fits(const struct work_files_reply *r, int64_t offset)
{
    const int64_t n = (int64_t)r->bytes.len;
    return r->size <= DOWNLOAD_MAX_BYTES && offset + n <= r->size &&
           (n > 0 || (r->size == 0 && offset == 0));
}

int work_files_read_reply(struct str message, int64_t offset, struct work_files_reply *r)
{
    const char *const end = message.len ? memchr(message.p, '\n', message.len) : NULL;
    if (!end)
        return -1;
    const struct str head = {message.p, (size_t)(end - message.p)};
    const struct str result = bus_message_text(head, "/result");
    *r = (struct work_files_reply){.size = bus_message_number(head, "/size"),
                                   .bytes = {end + 1, message.len - head.len - 1}};
    for (int i = WORK_FILES_BYTES; i <= WORK_FILES_GONE; i++)
        if (str_is(result, results[i])) {
            r->result = (enum work_files_result)i;
            return i != WORK_FILES_BYTES || work_files_fits(r, offset) ? 0 : -1;
        }
    return -1;
}
