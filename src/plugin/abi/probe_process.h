/* SPDX-License-Identifier: MIT
 * Main function of the probe process.
 *
 * The probe runs in a separate program (connector_main.c), and not in a fork of the host: in a fork
 * of a process with threads, any lock may be held (dlopen allocates memory and takes the linker's
 * lock), and constructors of a file would see the host's memory with all secrets. The forking
 * process has one thread, no secrets, and has loaded no plugin.
 *
 * The result for each file is a message: its length (pack.h), whether the file passed, and the
 * descriptor or the error; after it, or instead of it, the exit of the fork as -1 minus the status
 * of waitpid. */
#ifndef PLUGIN_ABI_PROBE_PROCESS_H
#define PLUGIN_ABI_PROBE_PROCESS_H

#include <sys/types.h>

/* Initial descriptors besides the standard ones, which are /dev/null: those of the first file;
 * those of file i are 2 * i higher. */
enum { PROBE_OUT = 3, PROBE_FILE };

/* Probes n files; ends early when the host has exited. */
__attribute__((__noreturn__)) void probe_process_main(pid_t host, int n);

#endif
