/* SPDX-License-Identifier: MIT
 * Main function of the probe process.
 *
 * It is a program of its own (connector_main.c), and not a fork of the host: a fork of a process
 * with threads may find any lock held (dlopen allocates, and takes the linker's), and what a file
 * runs as it is loaded would see the host's memory, with every secret in it. The process that forks
 * has one thread and no secret, and has loaded nothing.
 *
 * Of each file it says one message: its length (pack.h), whether the file passed, and the record or
 * what is wrong; and behind it, or in its place, how the fork ended, as -1 - what waitpid said. */
#ifndef PLUGIN_ABI_PROBE_PROCESS_H
#define PLUGIN_ABI_PROBE_PROCESS_H

#include <sys/types.h>

/* Initial descriptors besides the standard ones, which are /dev/null: those of the first file;
 * those of file i are 2 * i higher. */
enum { PROBE_OUT = 3, PROBE_FILE };

/* Probes n files; ends early when the host has exited. */
__attribute__((__noreturn__)) void probe_process_main(pid_t host, int n);

#endif
