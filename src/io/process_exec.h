/* SPDX-License-Identifier: MIT
 * From three descriptors to a running program: what happens between vfork and exec. */
#ifndef IO_PROCESS_EXEC_H
#define IO_PROCESS_EXEC_H

#include "io/process.h"

/* Starts the program with these as its descriptors 0-2; all are close-on-exec and stay the
 * caller's. Returns when exec has succeeded, or -1 with err when anything before it failed. */
pid_t process_exec(const struct process_spec *spec, const int stdio[3], struct tc_err *err)
    __attribute__((__warn_unused_result__));

#endif
