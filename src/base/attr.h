/* SPDX-License-Identifier: MIT
 * The GNU attributes the project uses, by short names. */
#ifndef BASE_ATTR_H
#define BASE_ATTR_H

#define PRINTF_LIKE(fmt, args) __attribute__((__format__(__printf__, fmt, args)))
#define MUST_CHECK __attribute__((__warn_unused_result__))
#define UNUSED __attribute__((__unused__))

#endif
