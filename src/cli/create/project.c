/* SPDX-License-Identifier: MIT
 * Copies the files of a template. */
#include "cli/create/project.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* Template files with this prefix in their names get the connector's name. */
#define STEM "connector"
#define SHELL_PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:@%,="

struct project {
    const struct project_spec *spec;
    char *directory; /* absolute */
    char *quoted;    /* quoted for a shell */
    int dir;
};

static char *project_quote(const char *text)
{
    struct buf out = {0};
    if (strspn(text, SHELL_PLAIN) == strlen(text))
        return xstrdup(text);
    buf_add_char(&out, '\'');
    for (const char *p = text; *p; p++)
        if (*p == '\'')
            buf_add_str(&out, "'\\''");
        else
            buf_add_char(&out, *p);
    buf_add_char(&out, '\'');
    return buf_steal(&out);
}

/* Characters that a configuration string or a makefile line cannot contain. */
static int project_check_directory(const char *directory, struct tc_err *err)
{
    for (const char *p = directory; *p; p++)
        if (*p == '"' || *p == '\\' || *p == '$' || *p == '#' || (unsigned char)*p < ' ')
            return err_set(err, directory,
                           "the path contains a character that is not allowed: "
                           "\", \\, $, # or a control character");
    return 0;
}

/* The value of the variable at the start of `text`, and the length of its name; NULL: no
 * variable. */
static const char *project_find_variable(const struct project *p, const char *text, size_t *len)
{
    const struct {
        const char *name, *value;
    } variables[] = {{"@NAME@", p->spec->name},
                     {"@DIRECTORY@", p->directory},
                     {"@CD@", p->quoted},
                     {"@PKGCONFIG@", TURNCAST_PKGCONFIGDIR}};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        *len = strlen(variables[i].name);
        if (strncmp(text, variables[i].name, *len) == 0)
            return variables[i].value;
    }
    return NULL;
}

static void project_expand(const struct project *p, const char *text, struct buf *out)
{
    size_t len;
    for (const char *at; (at = strchr(text, '@')); text = at + len) {
        buf_add(out, text, (size_t)(at - text));
        const char *const value = project_find_variable(p, at, &len);
        len = value ? len : 1;
        buf_add_str(out, value ? value : "@");
    }
    buf_add_str(out, text);
}

static int project_read(const struct project *p, const char *name, struct buf *out,
                        struct tc_err *err)
{
    CLEANUP_FREE char *path = xasprintf("%s/%s", p->spec->template, name);
    CLEANUP_FILE FILE *f = fopen(path, "re");
    CLEANUP_BUF struct buf text = {0};
    char piece[4096];
    if (!f)
        return err_set_errno(err, errno, path, "cannot open");
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;)
        buf_add(&text, piece, n);
    if (ferror(f))
        return err_set_errno(err, errno, path, "cannot read");
    project_expand(p, text.p ? text.p : "", out);
    return 0;
}

static char *project_file_name(const struct project *p, const char *name)
{
    const size_t n = strlen(STEM);
    return strncmp(name, STEM, n) == 0 ? xasprintf("%s%s", p->spec->name, name + n) : xstrdup(name);
}

static int project_write(const struct project *p, const char *name, const struct buf *text,
                         struct tc_err *err)
{
    const mode_t mode = text->len > 2 && strncmp(text->p, "#!", 2) == 0 ? 0755 : 0644;
    CLEANUP_FREE char *to = project_file_name(p, name);
    const int fd = openat(p->dir, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    const bool good = fd >= 0 && write(fd, text->p, text->len) == (ssize_t)text->len;
    const int why = errno;
    if (fd >= 0)
        close(fd);
    return good ? 0 : err_set_errno(err, why, to, "cannot write");
}

static int project_is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int project_copy(const struct project *p, const char *name, struct buf *next,
                        struct tc_err *err)
{
    CLEANUP_BUF struct buf text = {0};
    const bool is_next = strcmp(name, PROJECT_NEXT) == 0;
    if (project_read(p, name, is_next ? next : &text, err) < 0)
        return -1;
    return is_next || text.len == 0 ? 0 : project_write(p, name, &text, err);
}

static int project_copy_all(const struct project *p, struct buf *next, struct tc_err *err)
{
    struct dirent **entries;
    const int n = scandir(p->spec->template, &entries, project_is_file, alphasort);
    int rc = n < 0 ? err_set_errno(err, errno, p->spec->template, "cannot read") : 0;
    for (int i = 0; i < n; i++) {
        rc = rc == 0 ? project_copy(p, entries[i]->d_name, next, err) : rc;
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return rc;
}

/* Removes what was created before a failure. */
static void project_remove(const struct project *p)
{
    struct dirent **entries;
    const int n = scandir(p->directory, &entries, project_is_file, NULL);
    for (int i = 0; i < n; i++) {
        unlinkat(p->dir, entries[i]->d_name, 0);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    rmdir(p->directory);
}

static int project_open(struct project *p, struct tc_err *err)
{
    if (mkdir(p->spec->directory, 0755) < 0)
        return err_set_errno(err, errno, p->spec->directory, "cannot create the directory");
    p->directory = realpath(p->spec->directory, NULL);
    p->dir = open(p->spec->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!p->directory || p->dir < 0)
        return err_set_errno(err, errno, p->spec->directory, "cannot open");
    return project_check_directory(p->directory, err);
}

int project_create(const struct project_spec *spec, struct buf *next, struct tc_err *err)
{
    struct project p = {.spec = spec, .quoted = project_quote(spec->directory), .dir = -1};
    int rc = project_open(&p, err);
    if (rc == 0)
        rc = project_copy_all(&p, next, err);
    if (rc < 0 && p.directory)
        project_remove(&p);
    if (p.dir >= 0)
        close(p.dir);
    free(p.directory);
    free(p.quoted);
    return rc;
}
