#!/bin/sh
# SPDX-License-Identifier: MIT
# An installed copy, seen from outside: header, pkg-config file, and a plugin built with them.
. "$(dirname "$0")/../lint/lint.sh"
unset TURNCAST_PLUGIN_PATH
: "${TURNCAST_INCLUDEDIR:?is set by make installcheck}"
cc=${TURNCAST_CC:-cc}
pkg_config=${PKG_CONFIG:-pkg-config}
PKG_CONFIG_PATH=${TURNCAST_PKGCONFIGDIR:?}
export PKG_CONFIG_PATH

[ "$(ls "$TURNCAST_INCLUDEDIR/turncast")" = plugin.h ]
result $? "plugin.h is the only header"
cmp -s "$top/include/turncast/plugin.h" "$TURNCAST_INCLUDEDIR/turncast/plugin.h"
result $? "and it is the source tree's"
[ "$("$pkg_config" --variable=plugindir turncast)" = "$TURNCAST_PLUGINDIR" ]
result $? "pkg-config knows the plugin directory"

# build_plugin FILE MODULE: the command that README.md gives to authors.
build_plugin() {
    # shellcheck disable=SC2046,SC2086
    $cc -shared -fPIC $("$pkg_config" --cflags turncast) "$1" -o "$2"
}
cat >"$scratch/mine.c" <<'C'
#include <turncast/plugin.h>
TURNCAST_PLUGIN(.name = "mine");
C
build_plugin "$scratch/mine.c" "$scratch/mine.so"
result $? "a plugin builds against it"
nm -D --defined-only "$scratch/mine.so" | grep -q ' turncast_plugin$'
result $? "and exports the contract"
done_testing
