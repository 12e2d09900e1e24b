#!/bin/sh
# SPDX-License-Identifier: MIT
# Shell scripts are clean for shellcheck, and plain sh.
. "$(dirname "$0")/lint.sh"
needs shellcheck

scripts() {
    sources '*.sh' '*.t'
    find tools .ci bootstrap bench -type f 2>/dev/null | while read -r file; do
        if head -n 1 "$file" | grep -q '^#!.*sh$'; then echo "$file"; fi
    done
}

# SC2317: functions that are called by name look unreachable.
unclean() {
    # shellcheck disable=SC2046
    shellcheck -x -P SCRIPTDIR -s sh -f gcc -e SC2317 $(scripts | sort -u) 2>&1
}

holds "scripts are clean" unclean
catches "an unquoted variable" unclean 'tools/bad:2.*SC2086' tools/bad <<'C'
#!/bin/sh
ls $1
C
catches "bash in a plain script" unclean 'tools/bad:2.*SC3' tools/bad <<'C'
#!/bin/sh
a=(1 2); echo "$a"
C
done_testing
