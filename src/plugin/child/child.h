/* SPDX-License-Identifier: MIT
 * Main loop of the connector process: one thread that reads frames, calls the plugin and writes
 * frames. */
#ifndef PLUGIN_CHILD_CHILD_H
#define PLUGIN_CHILD_CHILD_H

#include <sys/types.h>

/* Descriptors it begins with, beside standard ones: stdin is /dev/null, the host reads what comes
 * on stdout and stderr, and has checked the file of the plugin. */
enum { CHILD_SOCKET = 3, CHILD_STATUS_PAGE, CHILD_PLUGIN, CHILD_FILES };

/* Exit statuses of a connector process that cannot go on; the host logs their meaning. */
enum {
    CHILD_EXIT_ALONE = 91, /* its connection to the host is closed */
    CHILD_EXIT_BROKEN,     /* what it has from the host makes no sense any more */
};

/* The instance's name, borrowed, and the process that is to be its parent. */
__attribute__((__noreturn__)) void child_main(const char *name, pid_t host);

#endif
