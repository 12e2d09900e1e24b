/* SPDX-License-Identifier: MIT
 * What the process of an instance may take of the machine beside memory: processor time, threads,
 * space in its folder. The kernel has no limit on these for one process, so the host looks, and
 * acts:
 *
 *   cpu_percent  more than that share of one processor within a window of half a minute: the
 * process gets the lowest priority until it ends threads      more of them: it is killed disk_mb
 * more in its folder: it is killed, and its next life may remove files there and not write, until
 * there is room again
 *
 * Loop thread only. The folder is measured by a thread of its own: the loop waits for no disk. */
#ifndef PLUGIN_CONNECTOR_LIMITS_H
#define PLUGIN_CONNECTOR_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf/conf.h"
#include "io/loop/loop.h"

struct limits;

/* What was last seen. */
struct limits_use {
    int64_t cpu_ms;      /* of this life */
    int64_t cpu_percent; /* within the window */
    int64_t threads;
    int64_t disk;         /* bytes; -1: not measured, or it has no folder */
    const char *exceeded; /* the key of the limit that it exceeds or has exceeded; NULL: none */
};

/* `label` is borrowed, `dir` copied; NULL: it has no folder. */
struct limits *connector_limits_new(struct loop *loop, const struct conf_instance *spec,
                                    const char *label, const char *dir);
void connector_limits_free(struct limits *l); /* NULL is fine */
/* A life begins. */
void connector_limits_begin(struct limits *l, pid_t pid);
/* Of the life that begins: its folder is too full for it to write there. */
bool connector_limits_is_full(const struct limits *l);
/* Looks at the process, and acts; what it does is logged. What it died of is told by
 * connector_limits_death.
 */
void connector_limits_look(struct limits *l);
/* It could write again, and this life cannot. */
bool connector_limits_has_room_again(const struct limits *l);
/* Why it was killed, as what follows "was killed because it"; NULL: it was not. */
const char *connector_limits_death(const struct limits *l);
struct limits_use connector_limits_use(const struct limits *l);

#endif
