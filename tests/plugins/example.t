#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the example of the README with the command of the README against an installed copy, copies
# it to the plugin directory, enables it in a configuration, and runs it.
set -u
: "${TURNCAST_BUILDDIR:?}" "${TURNCAST_SRCDIR:?}"

results=0
failures=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/turncast-example.XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
umask 022

# result STATUS DESCRIPTION [FILE]: FILE is shown when it fails.
result() {
    results=$((results + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $results - $2"
    else
        failures=$((failures + 1))
        echo "not ok $results - $2"
        [ $# -lt 3 ] || sed 's/^/# /' "$3"
    fi
}

done_testing() {
    echo "1..$results"
    exit $((failures > 0))
}

example=$TURNCAST_SRCDIR/examples/hello.c
readme=$TURNCAST_SRCDIR/README.md

lines=$(grep -c '[^[:space:]]' "$example")
[ "$lines" -le 30 ]
result $? "the example has at most 30 lines that are not empty ($lines)"
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$readme" >"$scratch/readme.c"
cmp -s "$example" "$scratch/readme.c"
result $? "the README contains the example unchanged"
command=$(sed -n 's/^    \(cc -shared .*\)$/\1/p' "$readme")
# shellcheck disable=SC2016
[ "$command" = 'cc -shared -fPIC $(pkg-config --cflags turncast) hello.c -o hello.so' ]
result $? "the README has one command to build the example"

if grep -q 'S\["TC_SANITIZE_FLAGS"\]="..*"' "$TURNCAST_BUILDDIR/config.status"; then
    echo "ok $((results + 1)) - against an installed copy # SKIP users do not build with a sanitizer"
    results=$((results + 1))
    done_testing
fi

# Installs below a separate root; variables of the outer make must not reach the inner one.
root=$scratch/root
prefix=$root$(sed -n 's/^S\["prefix"\]="\(.*\)"$/\1/p' "$TURNCAST_BUILDDIR/config.status")
(
    unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
    make -s -C "$TURNCAST_BUILDDIR" install DESTDIR="$root"
) >"$scratch/log" 2>&1
result $? "make install" "$scratch/log"
turncast=$(find "$root" -type f -path '*/bin/turncast')
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name turncast.pc)")
export PKG_CONFIG_PATH

# turncast.pc names the configured prefix; pkg-config is told the temporary one.
pkg_config=$(command -v pkg-config) || exit 99
mkdir "$scratch/bin" "$scratch/work"
printf '#!/bin/sh\nexec %s --define-variable=prefix=%s "$@"\n' "$pkg_config" "$prefix" \
    >"$scratch/bin/pkg-config"
printf '#!/bin/sh\nexec %s "$@"\n' "${TURNCAST_CC:-cc}" >"$scratch/bin/cc"
chmod +x "$scratch/bin/pkg-config" "$scratch/bin/cc"
export PATH="$scratch/bin:$PATH"

cd "$scratch/work" || exit 99
cp "$example" hello.c
sh -c "$command" >"$scratch/log" 2>&1 && [ -f hello.so ]
result $? "the command builds the example" "$scratch/log"
plugindir=$(pkg-config --variable=plugindir turncast)
[ -f "$plugindir/jsonl.so" ]
result $? "pkg-config knows the plugin directory"
install -m 755 hello.so "$plugindir/hello.so"

cat >turncast.conf <<CONF
plugins: {
    directory = "$plugindir";
    instances: { hello = { greeting = "The answer"; }; };
};
CONF
unset TURNCAST_PLUGIN_PATH TURNCAST_CONFIG
export HOME="$scratch/work" XDG_STATE_HOME="$scratch/work/state"
"$turncast" check hello.so >"$scratch/log" 2>&1
result $? "the installed turncast accepts the example" "$scratch/log"
cp "$TURNCAST_SRCDIR/examples/poster.c" poster.c
sh -c "$(echo "$command -Wall -Wextra -Werror" | sed 's/hello/poster/g')" >"$scratch/log" 2>&1
result $? "the command builds the example that delivers" "$scratch/log"
"$turncast" check ./poster.so >"$scratch/log" 2>&1
result $? "turncast accepts the example that delivers" "$scratch/log"
"$turncast" replay --config turncast.conf "$TURNCAST_SRCDIR/examples/recording.jsonl" \
    >out 2>"$scratch/log"
result $? "turncast replays a turn with the example" "$scratch/log"
grep -q '^First I read the notes\.' out
result $? "the example has received the narration" out
grep -A 2 '^The answer: Summary:$' out | tail -n 1 | grep -q '^- notes.txt has 3 lines$'
result $? "the example has received the answer, and uses its option" out
done_testing
