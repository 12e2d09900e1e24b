/* SPDX-License-Identifier: MIT
 * Short macros for GNU attributes: printf format checking, must-check results, unused, no
 * sanitizer instrumentation. */
#ifndef BASE_ATTR_H
#define BASE_ATTR_H

#define PRINTF_LIKE(fmt, args) __attribute__((__format__(__printf__, fmt, args)))
#define MUST_CHECK __attribute__((__warn_unused_result__))
#define UNUSED __attribute__((__unused__))
/* For functions that sanitizers must not instrument. */
#ifdef __clang__
#define UNSANITIZED __attribute__((disable_sanitizer_instrumentation))
#else
#define UNSANITIZED __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

/* Built with the address sanitizer: memory must be freed and not kept for reuse, so that use after
 * free is detected. */
#if defined(__SANITIZE_ADDRESS__)
#define ASAN_ENABLED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN_ENABLED 1
#endif
#endif
#ifndef ASAN_ENABLED
#define ASAN_ENABLED 0
#endif

#endif
