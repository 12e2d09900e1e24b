/* SPDX-License-Identifier: MIT
 * What the process of a connector gives up before it runs: files, connections, programs, other
 * processes. For the process itself, while it has one thread; there is no way back. */
#ifndef IO_SANDBOX_SANDBOX_H
#define IO_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/sys/err.h"

/* First stage, before any foreign code is in the process. */
struct sandbox_detach_spec {
    pid_t parent;    /* the process dies with it */
    const int *keep; /* descriptors that stay open, in any order */
    size_t n_keep;
    const char *dir; /* to work in; NULL: "/" */
};

/* A session and a group of its own, SIGKILL when the parent dies, no core dump, no tracer, limits
 * on descriptors and threads, no new privileges, umask 077. Of the descriptors those of `keep`
 * stay; 0 to 2 are /dev/null when they are not among them. -1: the parent is gone, or a limit
 * cannot be set. */
int sandbox_detach_process(const struct sandbox_detach_spec *start, struct tc_err *err) MUST_CHECK;

/* Lists end with NULL and may be NULL. Paths are files or folders, with all below them. */
struct sandbox_spec {
    const char *label; /* the place of errors */
    const char *const *write_paths;
    const char *const *shrink_paths; /* below these it may read and remove */
    const char *const *read_paths;   /* beside libraries, names, certificates and time zones */
    const char *const *read_files; /* regular files; what is missing or no such file is left out */
    bool starts_programs;          /* it may start programs: those of the system and run_paths */
    const char *const *run_paths;  /* to read and execute; what is missing is left out */
    int read_fd;                   /* of one more file that it may open to read; 0: none */
    const uint16_t *ports;         /* TCP ports it may connect to, and 53 */
    size_t n_ports;                /* 0: no socket at all */
    size_t memory;                 /* bytes of address space; 0: no limit */
    size_t data;                   /* bytes of private writable memory; 0: no limit */
    size_t file_size;              /* bytes of each file that it writes; 0: no limit */
};

/* The version of Landlock that knows ports. */
#define SANDBOX_PORTS 4

/* Features of the running kernel. */
struct sandbox_features {
    int landlock; /* its version (ABI); 0: none */
    bool seccomp;
};
struct sandbox_features sandbox_probe_kernel(void);
/* What connectors can do because this kernel does not enforce it, as one sentence without a full
 * stop; NULL: nothing. The first is owned; has_ports: of a connector that may connect to some. */
char *sandbox_tell_landlock_gaps(const struct sandbox_features *kernel, bool has_ports);
const char *sandbox_tell_seccomp_gaps(const struct sandbox_features *kernel);

typedef void sandbox_warn_fn(void *ctx, const char *text);

/* From here on the process does what is left to it (turncast.conf(5), ISOLATION). What the kernel
 * cannot do is said to `warn`, a line for each facility, and is no error. -1: a path of the spec
 * cannot be opened, or the kernel refused what it said it can. */
int sandbox_enter(const struct sandbox_spec *spec, sandbox_warn_fn *warn, void *ctx,
                  struct tc_err *err) MUST_CHECK;
/* The same on a kernel that can do no more than that. */
int sandbox_enter_with(const struct sandbox_features *kernel, const struct sandbox_spec *spec,
                       sandbox_warn_fn *warn, void *ctx, struct tc_err *err) MUST_CHECK;

#endif
