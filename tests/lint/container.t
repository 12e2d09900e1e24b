#!/bin/sh
# SPDX-License-Identifier: MIT
# The Containerfile fits what the packages install: no engine is needed, and none builds it here.
. "$(dirname "$0")/lint.sh"

# Instructions of the last stage, one in a line, without comments.
last_stage() {
    sed -e '/^#/d' -e ':more' -e '/\\$/{N;s/\\\n *//;b more' -e '}' Containerfile |
        awk '/^FROM / { n = 0 } { line[++n] = $0 } END { for (i = 1; i <= n; i++) print line[i] }'
}
# value INSTRUCTION: of the last one of this name in the last stage.
value() {
    last_stage | sed -n "s/^$1 //p" | tail -n 1
}
# words INSTRUCTION: of a list of strings in JSON, one in a line.
words() {
    value "$1" | sed 's/.*\[//; s/\].*//' | tr ',' '\n' | sed 's/^ *"//; s/" *$//'
}

no_user() {
    value USER | grep -qE '^[1-9][0-9]*:[1-9][0-9]*$' || echo "USER is no number above 0: $(value USER)"
    id=$(value USER)
    last_stage | grep -q "useradd .*--uid ${id%:*} .*--gid ${id#*:} " ||
        echo "no user ${id:-of its own} is made"
}
other_state() {
    home=$(sed -n 's/^u turncast .* //p' "$top/etc/systemd/sysusers.conf")
    for place in "$(value VOLUME)" "$(value WORKDIR)" "$(value ENV | sed -n 's/^HOME=\([^ ]*\).*/\1/p')" \
        "$(value ENV | sed -n 's/.*XDG_STATE_HOME=\([^ ]*\).*/\1/p')/turncast"; do
        [ "$place" = "$home" ] || echo "$place is not the home of the user, $home"
    done
    last_stage | grep -q "install -d -o turncast -g turncast -m 0700 $home" || echo "$home is not made"
}
other_base() {
    sed -n 's/^FROM \([^ ]*\).*/\1/p' Containerfile | grep -v '^debian:12-slim$'
}
# Each command has a section in the manual page, each file its place in a package.
unknown_words() {
    for command in "$(words ENTRYPOINT | head -n 1)" "$(words HEALTHCHECK | head -n 1)"; do
        [ "$command" = turncast ] || echo "${command:-nothing} is not the program"
    done
    for command in "$(words CMD | head -n 1)" "$(words HEALTHCHECK | sed -n 2p)"; do
        grep -q "^\.Ss $command$" "$top/man/turncast.1" || echo "$command is no command"
    done
    for file in $(words CMD | grep '^/'); do
        grep -q "^debian/${file##*/} $(dirname "$file" | sed 's,^/,,')$" "$top/debian/turncast.install" ||
            echo "$file is in no package"
    done
}
# COPY --from: packages that debian/control names, from where the stage before it left them.
unknown_copies() {
    source=$(sed -n '/^FROM .* AS build/,/^FROM /s/^WORKDIR //p' Containerfile)
    last_stage | sed -n 's/^COPY --from=build //p' | while read -r from to; do
        package=${from##*/}
        grep -qx "Package: ${package%%_*}" "$top/debian/control" || echo "$from is no package"
        [ "${from%/*}" = "${source%/*}" ] || echo "$from is not beside $source"
        last_stage | grep -qF " $to$package " || echo "$to$package is not installed"
    done
    last_stage | grep -q '^COPY --from=build ' || echo "nothing is copied"
}
# As few as possible files in each layer, and no list of packages that is older than the packages.
left_lists() {
    last_stage | grep '^RUN' | grep 'apt-get install' | grep -v 'apt-get update.*rm -rf .*/var/lib/apt/lists'
}

for check in no_user other_state other_base unknown_words unknown_copies left_lists; do
    holds "Containerfile: $check" $check
done
# planted DESCRIPTION CHECK PATTERN SED-COMMAND: the check finds the file that is changed in this way.
planted() {
    sed "$4" "$top/Containerfile" >"$scratch/changed"
    cmp -s "$scratch/changed" "$top/Containerfile" && result 1 "$1: the change changes something"
    catches "$1" "$2" "$3" Containerfile <"$scratch/changed"
}
planted "root" no_user 'USER is no number above 0: 0:0' 's/^USER .*/USER 0:0/'
planted "no user" no_user 'no user of its own' '/^USER/d'
planted "another user than is made" no_user 'no user 901:901' 's/^USER .*/USER 901:901/'
planted "state elsewhere" other_state '/data is not the home' 's,^VOLUME .*,VOLUME /data,'
planted "another base" other_base 'debian:sid' 's/^FROM debian:12-slim$/FROM debian:sid/'
planted "no check of its health" unknown_words 'nothing is not the program' '/^HEALTHCHECK/d'
planted "an unknown command" unknown_words 'health is no command' 's/"status"/"health"/'
planted "another configuration" unknown_words '/etc/other.conf is in no' 's,/etc/turncast/turncast.conf"\],/etc/other.conf"],'
planted "another package" unknown_copies 'is no package' 's,/build/turncast_,/build/other_,'
planted "a package that is not built there" unknown_copies 'is not beside' 's,^WORKDIR /build/,WORKDIR /source/,'
planted "lists that stay" left_lists 'apt-get install' 's, /var/lib/apt/lists/\*,,'
done_testing
