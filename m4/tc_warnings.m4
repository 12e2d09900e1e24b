dnl SPDX-License-Identifier: MIT
dnl The language and the warnings: each flag is probed, so that gcc and clang share one list.

# TC_TRY_FLAG(VARIABLE, FLAG)
# Appends FLAG to VARIABLE when the compiler takes it without complaint.
AC_DEFUN([TC_TRY_FLAG], [
  AS_VAR_PUSHDEF([cache], [tc_cv_flag_$2])
  AC_CACHE_CHECK([whether $CC takes $2], [cache], [
    tc_save_CFLAGS=$CFLAGS
    CFLAGS="-Werror $2"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([])], [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
    CFLAGS=$tc_save_CFLAGS
  ])
  AS_VAR_IF([cache], [yes], [AS_VAR_APPEND([$1], [" $2"])])
  AS_VAR_POPDEF([cache])
])

# TC_WARNINGS
# Sets TC_CFLAGS. Warnings are on in every build; they are errors with --enable-werror only, so
# that a newer compiler never breaks somebody's build of a release.
#
# Left out on purpose: -Wsign-conversion (every size_t from an int of the C library),
# -Wpedantic (GNU attributes and ?: are ours; the public header is tested with it),
# -Wpadded, -Waggregate-return (no defect behind them).
AC_DEFUN([TC_WARNINGS], [
  TC_CFLAGS=
  m4_foreach_w([flag], [
    -std=gnu17
    -Wall
    -Wextra
    -Wshadow
    -Wconversion
    -Wno-sign-conversion
    -Wformat=2
    -Wformat-signedness
    -Wnull-dereference
    -Wduplicated-cond
    -Wduplicated-branches
    -Wlogical-op
    -Wjump-misses-init
    -Wimplicit-fallthrough
    -Wswitch-enum
    -Wstrict-prototypes
    -Wmissing-prototypes
    -Wwrite-strings
    -Wcast-qual
    -Wcast-align
    -Wundef
    -Wvla
    -Wdate-time
  ], [TC_TRY_FLAG([TC_CFLAGS], flag)])
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [make warnings errors (for development)])],
    [], [enable_werror=no])
  AS_VAR_IF([enable_werror], [yes], [AS_VAR_APPEND([TC_CFLAGS], [" -Werror"])])
  AC_SUBST([TC_CFLAGS])
])

# TC_REQUIRE_CLEANUP
# Locals free themselves (src/base/cleanup.h): without the attribute everything would leak.
AC_DEFUN([TC_REQUIRE_CLEANUP], [
  AC_CACHE_CHECK([for __attribute__((cleanup))], [tc_cv_cleanup], [
    tc_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM(
      [[static void leave(int *p) { *p = 0; }]],
      [[__attribute__((__cleanup__(leave))) int local = 1; return local;]])],
      [tc_cv_cleanup=yes], [tc_cv_cleanup=no])
    CFLAGS=$tc_save_CFLAGS
  ])
  AS_VAR_IF([tc_cv_cleanup], [yes], [],
    [AC_MSG_ERROR([the compiler lacks __attribute__((cleanup)): use gcc or clang])])
])
