dnl SPDX-License-Identifier: MIT
dnl Sanitizers, fuzzing, crash points and hardening.

# TC_SANITIZE
# Sets TC_SANITIZE_FLAGS and the conditional SANITIZE.
AC_DEFUN([TC_SANITIZE], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers=LIST], [address,undefined or thread (for development)])],
    [], [enable_sanitizers=no])
  TC_SANITIZE_FLAGS=
  AS_CASE([$enable_sanitizers],
    [no], [],
    [yes], [AC_MSG_ERROR([say which: --enable-sanitizers=address,undefined or =thread])],
    [TC_SANITIZE_FLAGS="-fsanitize=$enable_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"])
  AS_VAR_IF([TC_SANITIZE_FLAGS], [], [], [
    tc_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $TC_SANITIZE_FLAGS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([])], [],
      [AC_MSG_ERROR([$CC cannot link with $TC_SANITIZE_FLAGS])])
    CFLAGS=$tc_save_CFLAGS
  ])
  AC_SUBST([TC_SANITIZE_FLAGS])
  AM_CONDITIONAL([SANITIZE], [test "$enable_sanitizers" != no])
])

# TC_FUZZING
# The targets of tests/fuzz/ against libFuzzer; without it they are built with a main of our own
# that replays files, so that `make check` runs every seed in any build.
AC_DEFUN([TC_FUZZING], [
  AC_ARG_ENABLE([fuzzing],
    [AS_HELP_STRING([--enable-fuzzing], [build the fuzz targets with libFuzzer (needs clang)])],
    [], [enable_fuzzing=no])
  TC_FUZZ_CFLAGS=
  TC_FUZZ_LINK=
  AS_VAR_IF([enable_fuzzing], [yes], [
    TC_FUZZ_CFLAGS=-fsanitize=fuzzer-no-link
    TC_FUZZ_LINK=-fsanitize=fuzzer
    tc_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $TC_FUZZ_LINK"
    AC_LINK_IFELSE([AC_LANG_SOURCE([[
      int LLVMFuzzerTestOneInput(const unsigned char *p, unsigned long n);
      int LLVMFuzzerTestOneInput(const unsigned char *p, unsigned long n) { return !p && n; }]])],
      [], [AC_MSG_ERROR([$CC has no libFuzzer: configure with CC=clang])])
    CFLAGS=$tc_save_CFLAGS
  ])
  AC_SUBST([TC_FUZZ_CFLAGS])
  AC_SUBST([TC_FUZZ_LINK])
  AM_CONDITIONAL([FUZZING], [test "$enable_fuzzing" = yes])
])

# TC_CRASH_POINTS
# Places where tests let a host die; never in what people install.
AC_DEFUN([TC_CRASH_POINTS], [
  AC_ARG_ENABLE([crash-points],
    [AS_HELP_STRING([--enable-crash-points],
      [the host dies where \$TURNCAST_CRASH_POINT says (for tests)])],
    [], [enable_crash_points=no])
  AS_VAR_IF([enable_crash_points], [yes],
    [AC_DEFINE([WITH_CRASH_POINTS], [1], [the host has named places to die at])])
])

# TC_HARDENING
# Sets TC_HARDEN_CFLAGS, TC_HARDEN_LDFLAGS and, for programs only, TC_PIE_LDFLAGS.
AC_DEFUN([TC_HARDENING], [
  TC_HARDEN_CFLAGS=
  TC_HARDEN_LDFLAGS=
  TC_PIE_LDFLAGS=
  m4_foreach_w([flag], [-fPIE -fstack-protector-strong -fcf-protection], [
    TC_TRY_FLAG([TC_HARDEN_CFLAGS], flag)])
  # Fortified functions need the optimiser, and hide errors from the sanitizers.
  tc_fortify=no
  AS_IF([test "$enable_sanitizers" = no], [
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
      #ifndef __OPTIMIZE__
      #error "not optimising"
      #endif
      #ifdef _FORTIFY_SOURCE
      #error "set already"
      #endif]])], [tc_fortify=yes])])
  AS_VAR_IF([tc_fortify], [yes], [AS_VAR_APPEND([TC_HARDEN_CFLAGS], [" -D_FORTIFY_SOURCE=2"])])
  tc_save_LDFLAGS=$LDFLAGS
  m4_foreach([flag], [[-Wl,-z,relro], [-Wl,-z,now], [-pie]], [
    AC_MSG_CHECKING([whether the linker takes flag])
    LDFLAGS="$tc_save_LDFLAGS flag"
    tc_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -fPIE"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([])], [
      AC_MSG_RESULT([yes])
      m4_if(m4_defn([flag]), [-pie], [TC_PIE_LDFLAGS="flag"], [AS_VAR_APPEND([TC_HARDEN_LDFLAGS], [" flag"])])
    ], [AC_MSG_RESULT([no])])
    CFLAGS=$tc_save_CFLAGS
  ])
  LDFLAGS=$tc_save_LDFLAGS
  AC_SUBST([TC_HARDEN_CFLAGS])
  AC_SUBST([TC_HARDEN_LDFLAGS])
  AC_SUBST([TC_PIE_LDFLAGS])
])
