#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of plugins that cannot be loaded, all beside a healthy one: each command reports each of
# them in one line, and the healthy one gets the same events as alone.
. "$(dirname "$0")/cli.sh"

turn=$fixtures/turn.jsonl
fault=$TURNCAST_BUILDDIR/tests/fault
bad=$scratch/bad
good=$fault/recorder.so
mkdir "$bad" "$bad/open" "$scratch/elsewhere"

# patch FILE OFFSET BYTES: overwrites bytes in a copy of the valid plugin; bytes in the form of
# printf.
patch() {
    cp "$good" "$bad/$1.so"
    # shellcheck disable=SC2059 # they are a format
    printf "$3" | dd of="$bad/$1.so" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# Offsets in the ELF header, for 64 bits and little endian, read by od.
number_at() {
    od -An -t u8 -j "$1" -N 8 "$good" | tr -d ' '
}
table=$(number_at 32)

# Damaged files.
echo 'no ELF, and long enough to have a header of that: so it is looked at, and refused' >"$bad/text.so"
: >"$bad/empty.so"
for n in 40 70 4096; do
    head -c "$n" "$good" >"$bad/cut$n.so"
done
patch machine 18 '\026\000'
patch class 4 '\001'
patch order 5 '\002'
patch type 16 '\002\000'
patch segments 56 '\310\000'
patch beyond $((table + 8)) '\000\360\377\377\377\377\377\177'
patch large $((table + 32)) '\000\000\000\000\001\000\000\000\000\000\000\000\001\000\000\000'
patch huge $((table + 40)) '\000\000\000\000\000\100\000\000'
mkdir "$bad/folder.so"
mkfifo "$bad/fifo.so"
cp "$good" "$scratch/elsewhere/linked.so"
ln -s "$scratch/elsewhere/linked.so" "$bad/link.so"
cp "$good" "$bad/group.so"
chmod g+w "$bad/group.so"
cp "$good" "$bad/world.so"
chmod o+w "$bad/world.so"
cp "$good" "$bad/unreadable.so"
chmod 0 "$bad/unreadable.so"
[ ! -r "$bad/unreadable.so" ] || rm -f "$bad/unreadable.so"
# Modules with invalid exports, and those that misbehave while they are loaded.
for name in badname badoption badrate badtext function manyrates newminor nosink nosymbol oldmajor \
    toolong tooshort twooptions undefined \
    loads_aborts loads_closes loads_exits loads_exits7 loads_scribbles loads_segfaults; do
    cp "$fault/$name.so" "$bad/"
done
cp "$good" "$bad/open/below.so"
chmod 0777 "$bad/open"

files=$(find "$bad" -name '*.so' | LC_ALL=C sort)
n=$(echo "$files" | wc -l)
[ "$n" -ge 38 ]
result $? "$n invalid modules"

for file in $files; do
    try check "$file"
    is "$status $(wc -l <"$scratch/out") $err" "2 1 " "check $(basename "$file"): one line"
    has "$out" "$file: " "  that names it"
done

# conf FILE...: writes a configuration with the healthy instance, and one for each of these files.
conf() {
    echo 'agents : { main : { command = ["'"$fake_agent"'", "play='"$turn"'"]; }; };'
    echo 'default_agent = "main";'
    echo 'plugins : { instances : {'
    i=0
    for file in "$@"; do
        i=$((i + 1))
        echo "bad$i : { plugin = \"$file\"; };"
        [ $i -ne 10 ] || echo "healthy : { plugin = \"$good\"; paths = [\"$scratch\"]; path = \"$scratch/told\"; };"
    done
    [ $i -ge 10 ] || echo "healthy : { plugin = \"$good\"; paths = [\"$scratch\"]; path = \"$scratch/told\"; };"
    echo '}; };'
}

# told: prints the events of the healthy instance, without the parts that differ between runs.
told() {
    sed 's/"ts":[0-9.]*/"ts":0/g; s/"correlation_id":"[^"]*"/"correlation_id":""/g; s/"duration_ms":[0-9.]*/"duration_ms":0/g' \
        "$scratch/told"
}

conf >"$scratch/alone.conf"
# shellcheck disable=SC2086 # a list
conf $files "$fault/initfails.so" "$fault/loads_hangs.so" >"$scratch/all.conf"
# This module is valid.
conf "$fault/loads_prints.so" >"$scratch/odd.conf"

try replay -c "$scratch/alone.conf" "$turn"
told >"$scratch/alone"
[ -s "$scratch/alone" ]
result $? "a replay with the healthy instance alone"
rm "$scratch/told"
try replay -c "$scratch/all.conf" "$turn"
is "$status $out" "0 " "a replay with all invalid modules succeeds"
told | cmp -s - "$scratch/alone"
result $? "the healthy instance gets the same events"
for file in $files "$fault/loads_hangs.so"; do
    is "$(grep -cF "$file: " "$scratch/err")" 1 "one line about $(basename "$file")"
done
has "$err" ": no luck today" "the message of a failing init is logged"
has "$err" ": disabled: init failed" "the failing init disables the instance"
is "$(wc -l <"$scratch/err")" $((n + 3)) "no other line is logged"

rm "$scratch/told"
try run -c "$scratch/all.conf" hello
is "$status" 0 "a run with all invalid modules succeeds"
is "$(kinds <"$scratch/told" | tr ' ' '\n' | tail -n 1)" 'done' "the healthy instance gets the complete turn"

rm "$scratch/told"
try check "$scratch/all.conf"
is "$status" 2 "check of that configuration fails"
is "$(wc -l <"$scratch/out")" $((n + 1)) "check reports each invalid module in one line"
[ ! -e "$scratch/told" ]
result $? "check runs no code of the modules in the host"

try replay -c "$scratch/odd.conf" "$turn"
is "$status" 0 "a module that prints while it is loaded is loaded"
told | cmp -s - "$scratch/alone"
result $? "its output is not forwarded"

try check "$fault/loads_prints.so"
is "$status $err" "0 " "check of a module that prints succeeds"
lacks "$out" "constructor" "does not print it"

TURNCAST_PLUGIN_PATH=$bad try plugins
is "$status" 2 "plugins of a folder with invalid modules fails"
is "$(grep -c ' error: ' "$scratch/out")" $((n - 1)) "plugins reports each invalid module in one line"
finish
