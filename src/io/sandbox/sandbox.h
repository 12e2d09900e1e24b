/* SPDX-License-Identifier: MIT
 * Sandbox of a connector process: drops access to files, connections, programs and other processes.
 * Called by the process itself, while it has one thread; irreversible. */
#ifndef IO_SANDBOX_SANDBOX_H
#define IO_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/sys/err.h"

/* First stage, before any plugin code is loaded. */
struct sandbox_detach_spec {
    pid_t parent;    /* the process dies with this parent */
    const int *keep; /* descriptors that stay open, in any order */
    size_t n_keep;
    const char *dir; /* working directory; NULL: "/" */
};

/* Creates a session and a process group; sets SIGKILL on the parent's death; no core dump, no
 * tracer, limits of descriptors and threads, no new privileges, umask 077. Closes all descriptors
 * except `keep`; 0 to 2 become /dev/null if they are not in `keep`. -1: the parent is gone, or a
 * limit cannot be set. */
int sandbox_detach_process(const struct sandbox_detach_spec *start, struct tc_err *err) MUST_CHECK;

/* Lists end with NULL and may be NULL. Paths are files or directories, including their contents. */
struct sandbox_spec {
    const char *label; /* the place of errors */
    const char *const *write_paths;
    const char *const *shrink_paths; /* directories in which it may read and delete */
    const char *const *read_paths;   /* readable, in addition to libraries, names, certificates and
                                      * time zones */
    const char *const *read_files;   /* regular files; other or missing ones are ignored */
    bool starts_programs;            /* it may start programs: those of the system and run_paths */
    const char *const *run_paths;    /* readable and executable; missing ones are ignored */
    int read_fd;                     /* descriptor of one more readable file; 0: none */
    const uint16_t *ports;           /* TCP ports to which it may connect, in addition to 53 */
    size_t n_ports;                  /* 0: no sockets at all */
    size_t memory;                   /* bytes of address space; 0: no limit */
    size_t data;                     /* bytes of private writable memory; 0: no limit */
    size_t file_size;                /* bytes of each file that it writes; 0: no limit */
};

/* The version of Landlock that supports ports. */
#define SANDBOX_PORTS 4

/* Features of the running kernel. */
struct sandbox_features {
    int landlock; /* version of Landlock (ABI); 0: none */
    bool seccomp;
};
struct sandbox_features sandbox_probe_kernel(void);
/* The capabilities of connectors that this kernel cannot restrict, as one sentence without a full
 * stop; NULL: none. The first function's result is owned; has_ports: for a connector that may
 * connect to some ports. */
char *sandbox_describe_landlock_gaps(const struct sandbox_features *kernel, bool has_ports);
const char *sandbox_describe_seccomp_gaps(const struct sandbox_features *kernel);

typedef void sandbox_warn_fn(void *ctx, const char *text);

/* Second stage: restricts the process (turncast.conf(5), ISOLATION). Missing kernel features are
 * reported to `warn`, one line each, and are no error. -1: a path of the spec cannot be opened, or
 * the kernel refused a supported feature. */
int sandbox_enter(const struct sandbox_spec *spec, sandbox_warn_fn *warn, void *ctx,
                  struct tc_err *err) MUST_CHECK;
/* The same for a kernel with these features only. */
int sandbox_enter_with(const struct sandbox_features *kernel, const struct sandbox_spec *spec,
                       sandbox_warn_fn *warn, void *ctx, struct tc_err *err) MUST_CHECK;

#endif
