/* SPDX-License-Identifier: MIT
 * A reader sees the old file or the new one, never half of one: written beside it, synced,
 * renamed over it, and the folder synced. */
#include "core/sticky.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/dir.h"

#define AGENT_MAX 100 /* bytes of a name, so that every file name fits */
#define FILE_MAX (64 << 10)

static int check_agent(const char *agent, struct tc_err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_.";
    const size_t len = strlen(agent);
    if (len == 0 || len > AGENT_MAX || agent[0] == '.' || strspn(agent, allowed) != len)
        return err_set(err, agent,
                       "no name for an agent: letters, digits, - _ and . (not first), at most %d",
                       AGENT_MAX);
    return 0;
}

static char *folder_of(const char *dir)
{
    return xasprintf("%s/visibility", dir);
}

static char *path_of(const char *dir, const char *agent)
{
    return xasprintf("%s/visibility/%s.json", dir, agent);
}

static enum show truth_of(const json_t *value)
{
    if (json_is_string(value))
        return visibility_truth(json_string_value(value));
    return json_is_true(value) || json_number_value(value) != 0 ? SHOW_ON : SHOW_OFF;
}

static int take_object(const json_t *root, const char *path, struct visibility *v,
                       struct tc_err *err)
{
    if (!json_is_object(root))
        return err_set(err, path, "damaged: not a JSON object");
    struct visibility read = *v;
    for (size_t i = 0; i < VISIBILITY_KEYS; i++) {
        const json_t *value = json_object_get(root, visibility_key(i));
        if (json_is_object(value) || json_is_array(value))
            return err_set(err, path, "damaged: %s is neither true nor false", visibility_key(i));
        if (value && !json_is_null(value))
            *visibility_slot(&read, i) = truth_of(value);
    }
    *v = read;
    return 0;
}

/* 0 with *fd -1: there is no file. */
static int open_stored(const char *path, int *fd, struct tc_err *err)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (*fd < 0)
        return errno == ENOENT ? 0 : err_sys(err, errno, path, "cannot be opened");
    struct stat st;
    if (fstat(*fd, &st) < 0)
        return err_sys(err, errno, path, "cannot be examined");
    if (!S_ISREG(st.st_mode))
        return err_set(err, path, "is not a regular file");
    if (st.st_size > FILE_MAX)
        return err_set(err, path, "damaged: larger than %d bytes", FILE_MAX);
    return 0;
}

static int load_path(const char *path, struct visibility *v, struct tc_err *err)
{
    CLEANUP_FD int fd = -1;
    if (open_stored(path, &fd, err) < 0)
        return -1;
    if (fd < 0)
        return 0;
    json_error_t why;
    json_t *root = json_loadfd(fd, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
    if (!root)
        return err_set(err, path, "damaged: line %d: %s", why.line, why.text);
    const int rc = take_object(root, path, v, err);
    json_decref(root);
    return rc;
}

int sticky_load(const char *dir, const char *agent, struct visibility *v, struct tc_err *err)
{
    if (check_agent(agent, err) < 0)
        return -1;
    CLEANUP_FREE char *path = path_of(dir, agent);
    return load_path(path, v, err);
}

static int write_all(int fd, const char *p, size_t n)
{
    while (n) {
        const ssize_t done = write(fd, p, n);
        if (done < 0 && errno != EINTR)
            return -1;
        if (done > 0) {
            p += done;
            n -= (size_t)done;
        }
    }
    return fsync(fd);
}

static int write_new(const char *temp, int fd, const char *path, const struct buf *text,
                     struct tc_err *err)
{
    if (write_all(fd, text->p, text->len) < 0)
        return err_sys(err, errno, temp, "cannot be written");
    if (rename(temp, path) < 0)
        return err_sys(err, errno, path, "cannot be replaced");
    return 0;
}

/* Makes a rename in the folder last across a power loss. */
static int sync_dir(const char *folder, struct tc_err *err)
{
    CLEANUP_FD int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
        return err_sys(err, errno, folder, "cannot be synced");
    return 0;
}

static int replace(const char *folder, const char *path, const struct buf *text, struct tc_err *err)
{
    CLEANUP_FREE char *temp = xasprintf("%s.XXXXXX", path);
    CLEANUP_FD int fd = mkostemp(temp, O_CLOEXEC); /* mode 0600 */
    if (fd < 0)
        return err_sys(err, errno, temp, "cannot be made");
    if (write_new(temp, fd, path, text, err) < 0) {
        unlink(temp);
        return -1;
    }
    return sync_dir(folder, err);
}

/* What cannot be read may still be of use to a person. */
static int keep_damaged(const char *path, struct tc_err *err)
{
    struct visibility ignored = visibility_default();
    if (load_path(path, &ignored, NULL) == 0)
        return 0;
    CLEANUP_FREE char *kept = xasprintf("%s.damaged", path);
    if (rename(path, kept) < 0)
        return err_sys(err, errno, path, "damaged, and cannot be kept as %s", kept);
    return 0;
}

int sticky_save(const char *dir, const char *agent, struct visibility v, struct tc_err *err)
{
    if (check_agent(agent, err) < 0)
        return -1;
    CLEANUP_FREE char *folder = folder_of(dir);
    CLEANUP_FREE char *path = path_of(dir, agent);
    CLEANUP_BUF struct buf text = {0};
    visibility_json(&text, v);
    buf_add_char(&text, '\n');
    if (dir_make(folder, err) < 0 || keep_damaged(path, err) < 0)
        return -1;
    return replace(folder, path, &text, err);
}

int sticky_resolve(const struct conf *conf, const char *agent, struct visibility *v,
                   struct tc_err *err)
{
    for (size_t i = 0; i < VISIBILITY_KEYS; i++)
        *visibility_slot(v, i) = (enum show)conf->show[i];
    const int rc = agent ? sticky_load(conf->state_dir, agent, v, err) : 0;
    *v = visibility_resolve(*v);
    return rc;
}
