#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of the notifications of turncast serve to systemd, from its start to its end; and of the
# units.
. "$(dirname "$0")/cli.sh"

heard=$scratch/heard
file=$scratch/turncast.conf
host=
ears=
trap '[ -z "$host" ] || kill -9 "$host"; [ -z "$ears" ] || kill -9 "$ears"; rm -rf "$scratch"' EXIT

# Each datagram is one line, with a bar instead of a newline.
python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
with open(sys.argv[2], "w", buffering=1) as out:
    while True:
        print(s.recv(4096).decode().replace("\n", "|"), file=out)' "$scratch/socket" "$heard" &
ears=$!
wait_for test -S "$scratch/socket"

cat >"$file" <<CONF
plugins : { instances : { null : { }; }; };
conversations : { drain_s = 7; };
CONF
export NOTIFY_SOCKET="$scratch/socket" WATCHDOG_USEC=300000
"$turncast" serve -c "$file" 2>"$scratch/err.host" </dev/null &
host=$!
wait_for grep -q '^READY=1|STATUS=serving$' "$heard"
result $? "the host reports that it is ready"
wait_for sh -c "[ \$(grep -c '^WATCHDOG=1$' '$heard') -ge 3 ]"
result $? "the host notifies the watchdog"
kill -HUP "$host"
wait_for grep -q '^RELOADING=1|MONOTONIC_USEC=[0-9]*$' "$heard"
result $? "the host reports a reload"
wait_for sh -c "[ \$(grep -c '^READY=1' '$heard') -ge 2 ]"
result $? "the host reports the end of the reload"
"$turncast" reload -c "$file" >/dev/null
wait_for sh -c "[ \$(grep -c '^READY=1' '$heard') -ge 3 ]"
is "$(grep -c '^RELOADING=1|MONOTONIC_USEC=[0-9]*$' "$heard")" 2 "the host reports a reload by turncast reload"
echo 'x' >>"$file"
kill -HUP "$host"
wait_for grep -q '^READY=1|STATUS=serving; last reload rejected, previous configuration still active$' "$heard"
result $? "the host reports a reload that was refused"
kill "$host"
wait "$host"
is $? 0 "the host ends"
host=
wait_for grep -q '^STOPPING=1|STATUS=waiting for running turns|EXTEND_TIMEOUT_USEC=27000000$' "$heard"
result $? "the host reports its end, and its time limit"
is "$(grep -vc '^WATCHDOG=1$' "$heard")" 8 "the host sends no other notification"
unset NOTIFY_SOCKET WATCHDOG_USEC

# --- the units: systemd accepts them, and no placeholder is left
for unit in turncast.service user/turncast.service; do
    lacks "$(cat "$TURNCAST_BUILDDIR/etc/systemd/$unit")" "@bindir" "$unit: its places"
    if command -v systemd-analyze >/dev/null; then
        mkdir -p "$scratch/$unit.d"
        sed "s|^Exec\(.*\)=[^ ]*/turncast |Exec\1=$turncast |" \
            "$TURNCAST_BUILDDIR/etc/systemd/$unit" >"$scratch/$unit.d/turncast.service"
        said=$(systemd-analyze --man=no verify "$scratch/$unit.d/turncast.service" 2>&1 | grep turncast.service)
        is "$said" "" "$unit: systemd reports no error"
    else
        result 0 "$unit # SKIP no systemd-analyze"
    fi
done
finish
