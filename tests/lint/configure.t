#!/bin/sh
# SPDX-License-Identifier: MIT
# configure refuses a C library that lacks what turncast needs, and names the version that has it.
. "$(dirname "$0")/lint.sh"

# refuses VARIABLE: a system where the check of this name fails.
refuses() {
    (cd "$scratch" && "$top/configure" --quiet "$1=no" 2>&1) >"$scratch/out" && return 1
    grep -q 'turncast needs Linux with glibc 2.36 or later' "$scratch/out"
}

for check in ac_cv_header_sys_pidfd_h ac_cv_func_pidfd_open tc_cv_gnu_strerror_r; do
    refuses $check
    result $? "configure refuses $check=no"
done

# POSIX's strerror_r, as musl has it, is recognised and not only a cached answer.
cat >"$scratch/posix" <<'END'
#!/bin/sh
exec gcc -include "${0%/*}/posix.h" "$@"
END
cat >"$scratch/posix.h" <<'END'
#include <string.h>
int posix_strerror_r(int, char *, size_t);
#define strerror_r posix_strerror_r
END
chmod +x "$scratch/posix"
! (cd "$scratch" && "$top/configure" --quiet CC="$scratch/posix" 2>&1) >"$scratch/out" &&
    grep -q "strerror_r is not GNU's" "$scratch/out"
result $? "configure recognises a strerror_r that returns an int"
done_testing
