/* SPDX-License-Identifier: MIT
 * The process of one instance, from the inside: one thread that reads frames, calls the plugin, and
 * writes frames. */
#ifndef PLUGIN_CHILD_H
#define PLUGIN_CHILD_H

#include <sys/types.h>

/* Descriptors it begins with, beside standard ones: out is the host's, err is read by it, the file
 * of the plugin has been checked by it. */
enum { CHILD_SOCKET = 3, CHILD_GAUGE, CHILD_PLUGIN, CHILD_FILES };

/* The instance's name, borrowed, and the process that is to be its parent. */
__attribute__((__noreturn__)) void child_main(const char *name, pid_t host);

#endif
