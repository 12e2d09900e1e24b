/* SPDX-License-Identifier: MIT
 * Group `tls`: the files of certificates that connections of the bus and of transports use. Only
 * their paths are stored; whether the files can be read is tested, so that a wrong path is an error
 * of the configuration. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "conf/conf_internal.h"
#include "conf/parse/secret.h"

#define TLS(member) offsetof(struct conf_tls, member)
#define PEM_BEGIN "-----BEGIN "

const char *conf_tls_read_private_file(const struct conf_row_ctx *r, const struct conf_node *n,
                                       const struct conf_row *row, void *target)
{
    struct tc_err why = {0};
    if (conf_row_path(r, n, row, target) < 0)
        return NULL;
    const char *const path = conf_row_resolve_path(r, n->value.string);
    const char *const first =
        secret_resolve(arena_sprintf(r->arena, "file:%s", path), NULL, r->arena, &why);
    if (!first)
        conf_row_error(r, n, "%s", why.text);
    return first;
}

static int conf_tls_read_certificates(const struct conf_row_ctx *r, const struct conf_node *n,
                                      const struct conf_row *row, void *target)
{
    if (conf_row_path(r, n, row, target) < 0)
        return -1;
    const char *const path = conf_row_resolve_path(r, n->value.string);
    CLEANUP_FD const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return conf_row_error(r, n, "cannot open certificate file %s: %s; correct the path", path,
                              strerror(errno));
    return 0;
}

static int conf_tls_read_key(const struct conf_row_ctx *r, const struct conf_node *n,
                             const struct conf_row *row, void *target)
{
    const char *const first = conf_tls_read_private_file(r, n, row, target);
    if (!first)
        return -1;
    if (strncmp(first, PEM_BEGIN, strlen(PEM_BEGIN)) != 0 || !strstr(first, "PRIVATE KEY"))
        return conf_row_error(
            r, n, "the file has no private key in PEM form; write the path of another one");
    return 0;
}

static const struct conf_row rows[] = {
    {"ca", conf_tls_read_certificates, TLS(ca), 0, 0, NULL},
    {"cert", conf_tls_read_certificates, TLS(cert), 0, 0, NULL},
    {"key", conf_tls_read_key, TLS(key), 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

int conf_tls_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                   const struct conf_row *row, void *target)
{
    struct conf_tls *const tls = (struct conf_tls *)(void *)((char *)target + row->offset);
    if (conf_row_parse_group(r, n, rows, tls) < 0)
        return -1;
    if (!tls->cert != !tls->key)
        return conf_row_error(r, n, "cert and key belong together; set both or neither");
    return 0;
}
