#!/bin/sh
# SPDX-License-Identifier: MIT
# An installed copy, seen from outside: an author builds the example with the README's command,
# drops it into a plugin directory, names it in a configuration and sees it called.
. "$(dirname "$0")/../lint/lint.sh"
unset TURNCAST_PLUGIN_PATH TURNCAST_SHIM TURNCAST_CONNECTOR TURNCAST_SCRIPT TURNCAST_DATA
: "${TURNCAST_INCLUDEDIR:?is set by make installcheck}"
PKG_CONFIG_PATH=$TURNCAST_PKGCONFIGDIR
PATH=$TURNCAST_BINDIR:$PATH
HOME=$scratch
XDG_CONFIG_HOME=$scratch/none
XDG_STATE_HOME=$scratch/state
export PKG_CONFIG_PATH PATH HOME XDG_CONFIG_HOME XDG_STATE_HOME
recording=$top/examples/recording.jsonl

headers=$(cd "$TURNCAST_INCLUDEDIR/turncast" && echo *)
[ "$headers" = "chat.h event.h json.h option.h plugin.h service.h" ]
result $? "plugin.h, what it includes and json.h are the headers"
[ "$(pkg-config --variable=plugindir turncast)" = "$TURNCAST_PLUGINDIR" ]
result $? "pkg-config knows the plugin directory"
[ "$(command -v turncast)" = "$TURNCAST_BINDIR/turncast" ] && turncast --version >/dev/null
result $? "turncast runs from where it was installed"
turncast replay --plugin jsonl "$recording" >"$scratch/events" &&
    tail -n 1 "$scratch/events" | grep -q '"type":"done"'
result $? "it finds the plugins installed with it"

# The command as it stands in the README, with the compiler of this build.
cc() {
    # TURNCAST_CC may carry options.
    # shellcheck disable=SC2086
    ${TURNCAST_CC:-gcc} "$@"
}
# includes HEADER: whether a file that includes it alone compiles, from the installed copy only.
includes() {
    printf '#include <turncast/%s>\nint unused;\n' "$1" >"$scratch/includes.c"
    # shellcheck disable=SC2046
    cc -std=c11 -fsyntax-only $(pkg-config --cflags turncast) "$scratch/includes.c" \
        2>"$scratch/said"
}
includes plugin.h && ! includes service.h && grep -q 'include <turncast/plugin.h>' "$scratch/said"
result $? "plugin.h is the one header an author includes"
command=$(sed -n 's/^    \(cc -shared .*\)/\1/p' "$top/README.md")
cp "$top/examples/hello.c" "$scratch/hello.c"
(cd "$scratch" && eval "$command")
result $? "the example builds: $command"
lines=$(grep -c . "$top/examples/hello.c")
[ "$lines" -le 30 ]
result $? "it has at most 30 lines that are not blank ($lines)"
turncast check "$scratch/hello.so" >"$scratch/said" && grep -q on_final "$scratch/said"
result $? "turncast check takes it and names its callbacks"

mkdir "$scratch/plugins"
mv "$scratch/hello.so" "$scratch/plugins"
cat >"$scratch/turncast.conf" <<C
plugins: { directory = "$scratch/plugins"; instances: { hello = { greeting = "So"; }; }; };
C
turncast replay --config "$scratch/turncast.conf" "$recording" >"$scratch/cast"
result $? "a configuration names it and it is loaded"
grep -q '^So: Summary:' "$scratch/cast"
result $? "it is called with the answer, and with its option"
grep -q 'First I read the notes\.' "$scratch/cast"
result $? "and with what is told before"
sed 's/greeting/isolation = "process"; greeting/' "$scratch/turncast.conf" >"$scratch/isolated.conf"
turncast replay --config "$scratch/isolated.conf" "$recording" >"$scratch/apart"
result $? "it is loaded into a process of its own"
cmp "$scratch/cast" "$scratch/apart"
result $? "and says the same from there"
rm "$scratch/plugins/hello.so"
turncast replay --config "$scratch/turncast.conf" "$recording" >"$scratch/cast" 2>&1
grep -q hello "$scratch/cast" && ! grep -q '^So:' "$scratch/cast"
result $? "without the file it is not called, and it is said"

cat >"$scratch/agent.conf" <<C
agents: { played: { command = ["cat", "$recording"]; }; };
C
turncast run --config "$scratch/agent.conf" hello </dev/null >"$scratch/cast"
result $? "it runs an agent, below the shim installed with it"

# project LANGUAGE PROGRAM: made with what it needs, and its commands typed as they are printed.
project() {
    if ! command -v "$2" >/dev/null; then
        skipped "a project in $1" "$2 is not installed"
        return
    fi
    mkdir "$scratch/$1-bin"
    # shellcheck disable=SC2016 # what is written there is expanded there
    printf '#!/bin/sh\nexec %s "$@"\n' "${TURNCAST_CC:-gcc}" >"$scratch/$1-bin/cc"
    chmod +x "$scratch/$1-bin/cc"
    (
        unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES PKG_CONFIG_PATH
        PATH=$scratch/$1-bin:$PATH
        cd "$scratch" && turncast new "room-$1" --language "$1" >"$scratch/next" || exit 1
        sed -n 's/^    //p' "$scratch/next" >"$scratch/commands"
        sh -e "$scratch/commands"
    ) >"$scratch/said" 2>&1
    project_status=$?
    [ "$project_status" -eq 0 ] && grep -q '^ok 2 ' "$scratch/said"
    result $? "the commands that turncast new prints for $1 build and test the project"
    [ "$project_status" -eq 0 ] || sed 's/^/# /' "$scratch/said"
}
project c pkg-config
project sh jq
project python python3
project node node
turncast replay --config "$scratch/room-c/turncast.conf" "$recording" >/dev/null 2>"$scratch/said" || :
! grep -q 'cannot be loaded\|unknown option' "$scratch/said"
result $? "its instance is accepted"

share=$TURNCAST_BINDIR/../share
# shellcheck disable=SC2016 # bash expands what is in quotes
said=$(bash --norc -c '. "$1"; complete -p turncast' bash "$share/bash-completion/completions/turncast")
[ "$said" = "complete -F _turncast turncast" ] && [ -f "$share/zsh/site-functions/_turncast" ] &&
    [ -f "$share/fish/vendor_completions.d/turncast.fish" ]
result $? "shells find how its command lines are completed"
unread_pages() {
    for page in "$top"/man/*.[1-8] "$top"/plugins/*/*.[1-8]; do
        [ -f "$page" ] || continue
        name=${page##*/}
        [ -f "$TURNCAST_MANDIR/man${name##*.}/$name" ] || echo "$name is not installed"
    done
}
holds "every manual page is installed" unread_pages
done_testing
