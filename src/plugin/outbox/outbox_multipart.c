/* SPDX-License-Identifier: MIT
 * Encodes a multipart/form-data body (RFC 7578). */
#include "plugin/outbox/outbox_multipart.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/sys/clock.h"

/* Escapes like browsers, and also the backslash, which some servers treat as an escape. */
static void write_name(struct buf *out, const char *key, const char *name)
{
    buf_printf(out, "; %s=\"", key);
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f || *at == '"' || *at == '\\')
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)*at);
        else
            buf_add_char(out, *at);
    buf_add_char(out, '"');
}

static bool outbox_multipart_has_boundary(const struct tc_part *parts, size_t count,
                                          const char *boundary)
{
    for (size_t i = 0; i < count; i++)
        if (parts[i].len && memmem(parts[i].data, parts[i].len, boundary, strlen(boundary)))
            return true;
    return false;
}

static void choose_boundary(const struct tc_part *parts, size_t count,
                            char boundary[MULTIPART_BOUNDARY])
{
    uint64_t random[2] = {0};
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        random[0] = (uint64_t)clock_mono_ms();
    do
        snprintf(boundary, MULTIPART_BOUNDARY, "turncast-%016" PRIx64 "%016" PRIx64, random[0],
                 random[1]++);
    while (outbox_multipart_has_boundary(parts, count, boundary));
}

void outbox_multipart_write(struct buf *out, const struct tc_part *parts, size_t count,
                            char boundary[MULTIPART_BOUNDARY])
{
    choose_boundary(parts, count, boundary);
    for (size_t i = 0; i < count; i++) {
        const struct tc_part *const p = &parts[i];
        if (!p->name) /* stored, but not sent */
            continue;
        buf_printf(out, "--%s\r\nContent-Disposition: form-data", boundary);
        write_name(out, "name", p->name);
        if (p->file_name)
            write_name(out, "filename", p->file_name);
        if (p->type)
            buf_printf(out, "\r\nContent-Type: %s", p->type);
        buf_add_str(out, "\r\n\r\n");
        buf_add(out, p->data, p->len);
        buf_add_str(out, "\r\n");
    }
    buf_printf(out, "--%s--\r\n", boundary);
}
