#!/bin/sh
# SPDX-License-Identifier: MIT
# The Debian packages, installed into the system that tools/deb made: packages.t FOLDER AGENT
#
# It runs as root in a mount namespace of its own, which tools/check makes. Nothing outside of FOLDER
# is changed. AGENT is tests/fake/talker.
. "$(dirname "$0")/../lint/lint.sh"
unset TURNCAST_DATA TURNCAST_PLUGIN_PATH TURNCAST_SHIM TURNCAST_CONNECTOR TURNCAST_SCRIPT # what is installed finds its own files
folder=$1
agent=$2
root=$folder/root
PATH=/usr/sbin:/usr/bin:/sbin:/bin
DEBIAN_FRONTEND=noninteractive
LC_ALL=C.UTF-8
export PATH DEBIAN_FRONTEND LC_ALL

complaints() {
    grep -E '^[EW]: ' "$folder/lintian.log"
}
[ -f "$folder/lintian.log" ]
result $? "lintian ran"
holds "lintian has no error and no warning" complaints

# Elsewhere the mounts would stay, and the next tools/deb deletes what is below $root.
[ "$(readlink /proc/self/ns/mnt)" != "$(readlink /proc/1/ns/mnt)" ] || exit 99
mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" || exit 99

# inside COMMAND...: as root of the installed system; its output is in $scratch/said.
inside() {
    chroot "$root" "$@" >"$scratch/said" 2>&1 </dev/null
}
# succeeds DESCRIPTION COMMAND...
succeeds() {
    description=$1
    shift
    "$@"
    status=$?
    result $status "$description"
    [ $status -eq 0 ] || sed 's/^/# /' "$scratch/said"
}
# as_user COMMAND...: as the service runs it.
as_user() {
    inside setpriv --reuid=turncast --regid=turncast --clear-groups env -i PATH=/usr/bin:/bin \
        HOME=/var/lib/turncast XDG_STATE_HOME=/var/lib "$@"
}
says() {
    grep -qF -- "$1" "$scratch/said"
}

# The system has nothing but Debian's minimal set of packages, and the files that apt-get would download.
begun=$(date +%s)
succeeds "apt-get installs the packages with their dependencies" \
    inside unshare --net apt-get -q -y install /turncast.deb /turncast-dev.deb
echo "# installed in $(($(date +%s) - begun)) s"
succeeds "it is installed with a user" inside stat -c '%U:%G %a' /var/lib/turncast
[ "$(cat "$scratch/said")" = "turncast:turncast 700" ]
result $? "whose home is its own"
succeeds "turncast --version runs" as_user turncast --version
version=$(dpkg-deb -f "$root/turncast.deb" Version)
says "turncast $version (plugin ABI" && ! says 'test build'
result $? "and says the version of the package"
succeeds "the configuration that is installed is accepted" \
    as_user turncast check /etc/turncast/turncast.conf
succeeds "all plugins can be loaded" as_user turncast plugins
succeeds "the unit is correct" inside systemd-analyze verify --man=no turncast.service
[ ! -e "$root/etc/systemd/system/multi-user.target.wants/turncast.service" ] &&
    [ ! -e "$root/etc/systemd/user/default.target.wants/turncast.service" ]
result $? "no service is enabled"

# A new user: turncast init, turncast serve, and the first message is answered.
cp "$agent" "$root/usr/local/bin/talker"
succeeds "a user is added" inside useradd --create-home ann
TURNCAST_DEB_ROOT=$root python3 -B "$(dirname "$0")/t_first_answer.py" >"$scratch/said" 2>&1
result $? "the first message of a new user is answered"
sed 's/^/# /' "$scratch/said"

# An agent in a file of conf.d; the file of the package stays as it is.
cat >"$root/etc/turncast/conf.d/agent.conf" <<'C'
agents : { main : { command = ["/usr/local/bin/talker"]; }; };
C
succeeds "a turn of an agent runs" as_user turncast run 'say something id=first'
says 'Answer first of '
result $? "and its answer is printed"
succeeds "turncast new and turncast test find their files" \
    inside sh -c 'cd /tmp && turncast new room --language sh && turncast test null'
# An upgrade, below, also loads libcurl.
libraries=$(grep -aoh 'lib[a-z]*\.so\.[0-9]*' "$root/usr/bin/turncast" | sort -u |
    grep -E '^lib(curl|websockets)\.')
[ "$(printf '%s\n' "$libraries" | wc -l)" -eq 2 ]
result $? "the program names two libraries that it loads when it needs them"
for library in $libraries; do
    succeeds "$library is installed" inside sh -c "ldconfig -p | grep -F '$library'"
done
missing_pages() {
    for page in $(dpkg-deb -c "$root/turncast.deb" | grep -o 'share/man/.*\.gz') \
        $(dpkg-deb -c "$root/turncast-dev.deb" | grep -o 'share/man/.*\.gz'); do
        echo "${page##*/}"
    done | sort >"$scratch/packaged"
    for page in man/*.[1-8] plugins/*/*.[1-8]; do
        grep -qx "${page##*/}.gz" "$scratch/packaged" || echo "$page is in no package"
    done
}
holds "every manual page is in a package" missing_pages
for file in hello.c costs/costs.go recording.jsonl; do
    [ -e "$root/usr/share/doc/turncast-dev/examples/$file" ]
    result $? "the example $file is there"
done
[ -f "$root/usr/include/turncast/plugin.h" ] && grep -q "^plugindir=.*/turncast$" \
    "$root"/usr/lib/*/pkgconfig/turncast.pc
result $? "and what a plugin is built with"

rm -rf "$root/var/lib/turncast"/* "$root/etc/turncast/conf.d/agent.conf"
TURNCAST_DEB_ROOT=$root python3 -B "$(dirname "$0")/t_upgrade.py" >"$scratch/said" 2>&1
result $? "an upgrade loses nothing"
sed 's/^/# /' "$scratch/said"
succeeds "the package is removed" inside dpkg -r turncast turncast-dev
[ -d "$root/var/lib/turncast" ] && [ -f "$root/etc/turncast/turncast.conf" ]
result $? "its state and configuration stay"
succeeds "it is purged" inside dpkg -P turncast turncast-dev
[ ! -e "$root/var/lib/turncast" ] && [ ! -e "$root/etc/turncast" ] && [ ! -e "$root/usr/share/turncast" ]
result $? "nothing of it stays"
done_testing
