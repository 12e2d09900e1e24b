/* SPDX-License-Identifier: MIT
 * What the user of a host must be permitted on the NATS servers: subjects to try, and the lines
 * that a server's configuration lacks when it refuses some. Pure. */
#ifndef CORE_BUS_BUS_PERMISSION_H
#define CORE_BUS_BUS_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/bytes/buf.h"
#include "conf/conf.h"

struct bus_permission {
    bool is_subscription;
    const char *pattern; /* as a server's configuration has it */
    /* A subject of that pattern, to which a message with any text can be published, if JetStream is
     * told to expect BUS_PERMISSION_SEQUENCE: it stores nothing. */
    const char *subject;
    bool is_missing;
};
#define BUS_PERMISSIONS_MAX 48
#define BUS_PERMISSION_SEQUENCE (UINT64_C(1) << 53) /* of no message */

/* All that a host with this configuration needs. Returns how many; texts are the arena's, or
 * borrowed from the configuration. */
size_t bus_permission_list(const struct conf *conf, struct arena *a,
                           struct bus_permission out[BUS_PERMISSIONS_MAX]);
/* Marks what is missing, by a complaint of a server: "Permissions Violation for Publish to "…"". */
void bus_permission_record(struct bus_permission *list, size_t n, const char *complaint);
/* Appends what is missing: `publish: ["a.>", "b.>"], subscribe: ["c.>"]`; nothing: nothing is. */
void bus_permission_write(const struct bus_permission *list, size_t n, struct buf *out);

#endif
