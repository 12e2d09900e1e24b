dnl SPDX-License-Identifier: MIT
dnl TC_REQUIRE_LIBC: requires a recent GNU C library on Linux. Without this check the build fails with a
dnl missing header, or (strerror_r of POSIX, as in musl) uses an int as a pointer.
AC_DEFUN([TC_REQUIRE_LIBC], [
AC_CHECK_HEADER([sys/pidfd.h], [],
  [AC_MSG_ERROR([sys/pidfd.h is missing: turncast needs Linux with glibc 2.36 or later])])
AC_CHECK_FUNC([pidfd_open], [],
  [AC_MSG_ERROR([pidfd_open is missing: turncast needs Linux with glibc 2.36 or later])])
AC_CACHE_CHECK([whether strerror_r is GNU's, which returns the text], [tc_cv_gnu_strerror_r], [
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#define _GNU_SOURCE
#include <string.h>
]], [[
char store[64];
_Static_assert(__builtin_types_compatible_p(__typeof__(strerror_r(1, store, 64)), char *), "POSIX");
]])], [tc_cv_gnu_strerror_r=yes], [tc_cv_gnu_strerror_r=no])])
AS_IF([test "$tc_cv_gnu_strerror_r" != yes],
  [AC_MSG_ERROR([strerror_r is not GNU's: turncast needs Linux with glibc 2.36 or later])])
])
