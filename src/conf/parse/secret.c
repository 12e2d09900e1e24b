/* SPDX-License-Identifier: MIT
 * Reads secrets, and refuses unsafe sources. */
#include "conf/parse/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sys/log.h"
#include "conf/parse/conf_path.h"

#define SECRET_MAX ((size_t)16384) /* longest file of a secret */

/* Permissions of credentials that a service manager passes: they belong to root, and the ACL for
 * the service's user appears as permission of the group. */
#define CREDENTIALS "CREDENTIALS_DIRECTORY"

static int secret_check_file(int fd, const char *path, bool credential, struct tc_err *err)
{
    const mode_t closed = credential ? 037 : 077;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_set_errno(err, errno, NULL, "cannot read the status of secret file %s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, NULL, "secret file %s is not a regular file", path);
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return err_set(err, NULL,
                       "secret file %s is owned by UID %ld; it must be owned by root or UID %ld",
                       path, (long)st.st_uid, (long)geteuid());
    if (st.st_mode & closed)
        return err_set(err, NULL,
                       "secret file %s is accessible to other users (mode %04o); run: chmod 600 %s",
                       path, (unsigned)st.st_mode & 07777, path);
    return 0;
}

/* Reads one byte more than the limit, so that the caller detects a longer file. */
static ssize_t secret_read_all(int fd, char *to, size_t cap)
{
    size_t have = 0;
    while (have < cap) {
        const ssize_t n = read(fd, to + have, cap - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

/* NAME of "${CREDENTIALS_DIRECTORY}/NAME"; NULL: another path. */
static const char *credential_name(const char *path)
{
    static const char front[] = "${" CREDENTIALS "}/";
    return strncmp(path, front, sizeof front - 1) == 0 ? path + sizeof front - 1 : NULL;
}

/* Path of the credential; NULL with err. */
static const char *find_credential(const char *name, struct arena *arena, struct tc_err *err)
{
    const char *const dir = getenv(CREDENTIALS);
    if (dir && *dir == '/')
        return arena_sprintf(arena, "%s/%s", dir, name);
    err_set(err, NULL,
            "cannot read credential \"%s\": environment variable %s is not set (is turncast "
            "started by systemd with LoadCredential=?)",
            name, CREDENTIALS);
    return NULL;
}

/* Path of a secret's file; NULL with err. */
static const char *secret_find_file(const char *given, const char *dir, struct arena *arena,
                                    struct tc_err *err)
{
    const char *const credential = credential_name(given);
    if (credential)
        return find_credential(credential, arena, err);
    return conf_path_resolve(arena, dir, given);
}

static const char *secret_read_file(const char *given, const char *dir, struct arena *arena,
                                    struct tc_err *err)
{
    const char *const path = secret_find_file(given, dir, arena, err);
    if (!path)
        return NULL;
    CLEANUP_FD const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        err_set(err, NULL,
                "cannot open secret file %s: %s; create it with mode 0600, or change the path",
                path, strerror(errno));
        return NULL;
    }
    if (secret_check_file(fd, path, credential_name(given) != NULL, err) < 0)
        return NULL;
    char *const text = arena_alloc_bytes(arena, SECRET_MAX + 1);
    const ssize_t n = secret_read_all(fd, text, SECRET_MAX + 1);
    if (n < 0) {
        err_set_errno(err, errno, NULL, "cannot read secret file %s", path);
        return NULL;
    }
    if ((size_t)n > SECRET_MAX) {
        err_set(err, NULL, "secret file %s is too long (limit: %zu bytes)", path, SECRET_MAX);
        return NULL;
    }
    text[n] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    return text;
}

static const char *secret_read_env(const char *name, struct arena *arena, struct tc_err *err)
{
    const char *const value = getenv(name);
    if (!*name) {
        err_set(err, NULL, "env: names no environment variable; write env:NAME");
        return NULL;
    }
    if (value)
        return arena_strdup(arena, value);
    err_set(err, NULL, "environment variable %s is not set; set it where turncast is started",
            name);
    return NULL;
}

const char *secret_resolve(const char *value, const char *dir, struct arena *arena,
                           struct tc_err *err)
{
    const char *text;
    if (strncmp(value, "env:", 4) == 0)
        text = secret_read_env(value + 4, arena, err);
    else if (strncmp(value, "file:", 5) == 0)
        text = secret_read_file(value + 5, dir, arena, err);
    else
        text = arena_strdup(arena, value);
    if (!text)
        return NULL;
    if (!*text) {
        err_set(err, NULL, "the secret is empty");
        return NULL;
    }
    log_add_secret(text);
    return text;
}
