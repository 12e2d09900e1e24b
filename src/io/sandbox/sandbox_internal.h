/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the sandbox. */
#ifndef IO_SANDBOX_SANDBOX_INTERNAL_H
#define IO_SANDBOX_SANDBOX_INTERNAL_H

#include "io/sandbox/sandbox.h"

/* A sanitizer build, whose leak checker traces the process at exit, and which needs an address
 * space of terabytes. */
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

/* sandbox_landlock.c: the version of the kernel's Landlock, 0 if there is none. */
int sandbox_landlock_version(void);
/* Requires version 1 or later. The caller reports the features that the version lacks. */
int sandbox_landlock_enter(int version, const struct sandbox_spec *spec,
                           struct tc_err *err) MUST_CHECK;

/* sandbox_seccomp.c */
bool sandbox_seccomp_is_supported(void);
/* `landlock`: the version in use, or 0; features missing in an old version are refused by the
 * filter. */
int sandbox_seccomp_enter(int landlock, const struct sandbox_spec *spec,
                          struct tc_err *err) MUST_CHECK;

#endif
