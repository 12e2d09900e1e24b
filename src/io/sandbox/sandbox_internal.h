/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the sandbox. */
#ifndef IO_SANDBOX_SANDBOX_INTERNAL_H
#define IO_SANDBOX_SANDBOX_INTERNAL_H

#include "io/sandbox/sandbox.h"

/* A build whose checker looks into the process from beside it (leaks are counted by a tracer at
 * the exit), and has an address space of terabytes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANDBOX_SANITIZER_BUILD 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANDBOX_SANITIZER_BUILD 1
#endif
#endif
#ifndef SANDBOX_SANITIZER_BUILD
#define SANDBOX_SANITIZER_BUILD 0
#endif

/* sandbox_landlock.c: the version of the kernel's Landlock, 0 when there is none. */
int sandbox_landlock_version(void);
/* Version 1 or later. Which parts that version does not have is the caller's to say. */
int sandbox_landlock_enter(int version, const struct sandbox_spec *spec,
                           struct tc_err *err) MUST_CHECK;

/* sandbox_seccomp.c */
bool sandbox_seccomp_is_supported(void);
/* `landlock`: the version that is entered, or 0; what an old one leaves open is refused here. */
int sandbox_seccomp_enter(int landlock, const struct sandbox_spec *spec,
                          struct tc_err *err) MUST_CHECK;

#endif
