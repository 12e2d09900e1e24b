/* SPDX-License-Identifier: MIT
 * turncast-remote: reads the events of an agent from a transport; see remote.h. Exits with the
 * status of the command, with 0 without one, with 1 after an error, which it writes to standard
 * error, and with 2 if its arguments are not valid. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "remote/remote.h"

#define SECRET_VARIABLE "TURNCAST_REMOTE_SECRET"

static const struct transport {
    const char *kind;
    int (*follow)(const struct remote_arguments *a, struct tc_err *err);
} transports[] = {
    {"redis", remote_redis_follow}, {"sse", remote_sse_follow}, {"nats", remote_nats_follow}};

const char *remote_setting(const struct remote_arguments *a, const char *name,
                           const char *otherwise)
{
    const size_t len = strlen(name);
    for (char **s = a->settings; *s; s++)
        if (strncmp(*s, name, len) == 0 && (*s)[len] == '=')
            return *s + len + 1;
    return otherwise;
}

/* Cuts the arguments at "--", and removes the secret from the environment. */
static struct remote_arguments remote_main_read(char **argv)
{
    struct remote_arguments a = {.settings = argv};
    for (char **p = argv; *p; p++)
        if (strcmp(*p, "--") == 0) {
            *p = NULL;
            a.command = p[1] ? p + 1 : NULL;
            break;
        }
    const char *const secret = getenv(SECRET_VARIABLE);
    if (secret && *secret) {
        a.secret = xstrdup(secret);
        log_add_secret(secret);
    }
    unsetenv(SECRET_VARIABLE);
    return a;
}

static int remote_main_follow(const struct transport *t, char **argv)
{
    struct remote_arguments a = remote_main_read(argv);
    struct tc_err err = {0};
    const int status = t->follow(&a, &err);
    if (status < 0) {
        CLEANUP_BUF struct buf told = {0};
        log_redact(&told, (struct str){err.text, strlen(err.text)});
        fprintf(stderr, "turncast-remote %s: %s\n", t->kind, told.p);
    }
    free(a.secret);
    return status < 0 ? EXIT_FAILURE : status;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof transports / sizeof *transports; i++)
        if (strcmp(argv[1], transports[i].kind) == 0)
            return remote_main_follow(&transports[i], argv + 2);
    fprintf(stderr,
            "usage: turncast-remote redis|sse|nats [NAME=VALUE...] [-- COMMAND [ARGUMENT...]]\n"
            "The host starts this program for agents with a transport; see "
            "turncast.conf(5).\n");
    return 2;
}
