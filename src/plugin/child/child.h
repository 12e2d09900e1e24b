/* SPDX-License-Identifier: MIT
 * Main loop of the connector process: one thread that reads frames, calls the plugin and writes
 * frames. */
#ifndef PLUGIN_CHILD_CHILD_H
#define PLUGIN_CHILD_CHILD_H

#include <sys/types.h>

/* Initial descriptors besides the standard ones: stdin is /dev/null; the host reads stdout and
 * stderr, and has checked the file of the plugin. */
enum { CHILD_SOCKET = 3, CHILD_STATUS_PAGE, CHILD_PLUGIN, CHILD_FILES };

/* Exit statuses of a connector process after fatal errors; the host logs their meaning. */
enum {
    CHILD_EXIT_ALONE = 91, /* the connection to the host was closed */
    CHILD_EXIT_BROKEN,     /* data from the host is invalid */
};

/* `name` of the instance is borrowed; `parent` is the expected parent process. */
__attribute__((__noreturn__)) void child_main(const char *name, pid_t host);

#endif
