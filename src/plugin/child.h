/* SPDX-License-Identifier: MIT
 * The process of one instance, from the inside: one thread that reads frames, calls the plugin, and
 * writes frames. The host's program, started again by channel_process.c. */
#ifndef PLUGIN_CHILD_H
#define PLUGIN_CHILD_H

#include <stdbool.h>

#define CHILD_ARG                                                                                  \
    "--connector" /* the first argument; then the instance's name, and the host's pid */
/* Descriptors it begins with, beside standard ones: out is the host's, err is read by it, the file
 * of the plugin has been checked by it. */
enum { CHILD_SOCKET = 3, CHILD_GAUGE, CHILD_PLUGIN, CHILD_FILES };

/* Whether a program that was started so has to be one. */
bool child_is_wanted(int argc, char *const *argv);
__attribute__((__noreturn__)) void child_main(char *const *argv);

#endif
