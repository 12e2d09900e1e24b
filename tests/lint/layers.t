#!/bin/sh
# SPDX-License-Identifier: MIT
# No include runs upward: the layers of ARCHITECTURE.md, read from the #include lines.
. "$(dirname "$0")/lint.sh"

upward_includes() {
    # shellcheck disable=SC2046
    awk -f - $(sources '*.[ch]') /dev/null <<'AWK'
    BEGIN {
        split("base event dialect conf text turn io plugin core api cli", order, " ")
        split("0 1 2 2 2 3 3 4 5 6 7", ranks, " ")
        for (i in order) rank[order[i]] = ranks[i] + 0
    }
    function violation(why) { printf "%s:%d: %s: %s\n", FILENAME, FNR, why, $0 }
    FNR == 1 { split(FILENAME, part, "/") }
    !/^[ \t]*#[ \t]*include/ { next }
    {
        name = $0
        sub(/^[ \t]*#[ \t]*include[ \t]*[<"]/, "", name)
        sub(/[>"].*/, "", name)
        quoted = $0 ~ /include[ \t]*"/
        split(name, dir, "/")
    }
    name ~ /\.\.\// { violation("include relative to src/"); next }
    part[1] == "src" && quoted && !(dir[1] in rank) { violation("not a layer"); next }
    part[1] == "src" && quoted && !(part[2] in rank) { violation("file outside the layers"); next }
    part[1] == "src" && quoted && dir[1] != part[2] && rank[dir[1]] >= rank[part[2]] {
        violation(part[2] " must not know " dir[1]); next
    }
    name == "io/libcurl.h" && FILENAME !~ /^src\/io\/(libcurl|httpc)/ {
        violation("HTTP is spoken through io/httpc.h"); next
    }
    name == "io/libwebsockets.h" && FILENAME !~ /^src\/io\/(libwebsockets|websocket)/ {
        violation("websockets are spoken through io/websocket.h"); next
    }
    part[1] == "include" && quoted { violation("the public header stands alone"); next }
    (part[1] == "plugins" || part[1] == "examples") && quoted && name ~ /\// {
        violation("a plugin sees the public header only"); next
    }
    part[1] ~ /^(plugins|examples|src)$/ && !quoted && dir[1] == "turncast" && name !~ /^turncast\/(plugin|service)\.h$/ {
        violation("no such public header"); next
    }
AWK
}

# The tests of purity and of third-party libraries: header pattern, files that may include it.
library_includes() {
    # shellcheck disable=SC2046
    awk -f - $(sources '*.[ch]') /dev/null <<'AWK'
    function only(header, files, why) { n++; pattern[n] = header; allowed[n] = files; reason[n] = why }
    BEGIN {
        only("^libconfig", "^src/conf/node\\.c$", "libconfig stays in src/conf/node.c")
        only("^(event2/|event\\.h)", "^src/io/[a-z_]+\\.c$", "libevent stays in src/io")
        only("^jansson", "^(plugins/(cli|slack|telegram)/|src/(plugin/services|core/audit|api/[a-z_]+|cli/[a-z_]+)\\.[ch]$)",
             "jansson is for state, plugin helpers and commands")
        only("^nettle/", "^(plugins/(audit|slack/sign)|src/(core/(audit|approvals)|dialect/missy_write|api/(auth|chat_seen|page))\\.c$)",
             "nettle is for audit chains, signatures and digests")
        only("^md4c", "^src/text/markdown[a-z_]*\\.[ch]$", "md4c stays in src/text/markdown*")
        only("^hiredis", "^src/io/redis\\.c$", "Redis is spoken through io/redis.h")
        only("^seccomp", "^src/io/sandbox_seccomp\\.c$", "libseccomp stays in src/io/sandbox_seccomp.c")
        only("^sqlite3", "^src/io/(sql|salvage)\\.c$", "SQLite stays in src/io/sql.c and salvage.c")
        only("^dlfcn", "^src/(plugin/loader_module|io/lib[a-z]+)\\.c$",
             "modules are opened in src/plugin/loader_module.c, libraries in src/io/lib*.c")
        only("^curl/", "^src/io/libcurl\\.h$", "libcurl comes through src/io/libcurl.h")
        only("^libwebsockets", "^src/io/libwebsockets\\.h$",
             "libwebsockets comes through src/io/libwebsockets.h")
    }
    FNR == 1 { split(FILENAME, part, "/") }
    part[1] == "tests" || part[1] == "bench" || !/^[ \t]*#[ \t]*include[ \t]*</ { next }
    {
        name = $0
        sub(/^[^<]*</, "", name)
        sub(/>.*/, "", name)
        for (i = 1; i <= n; i++)
            if (name ~ pattern[i] && FILENAME !~ allowed[i])
                printf "%s:%d: %s\n", FILENAME, FNR, reason[i]
        if (FILENAME ~ /^src\/(dialect|text|turn)\// &&
            name ~ /^(pthread|threads|unistd|fcntl|poll|signal|sys\/|netinet\/)/)
            printf "%s:%d: pure: no I/O, no threads: %s\n", FILENAME, FNR, name
    }
AWK
}

holds "no include runs upward" upward_includes
holds "libraries stay behind their files" library_includes
catches "an upward include" upward_includes 'src/event/bad.c:2: event must not know core' \
    src/event/bad.c <<'C'
/* comment */
#include "core/turn.h"
C
catches "a sideways include" upward_includes 'turn must not know io' src/turn/bad.c <<'C'
# include "io/loop.h"
C
catches "a path out of the folder" upward_includes 'relative to src' src/turn/bad.h <<'C'
#include "../io/loop.h"
C
catches "a plugin that looks inside" upward_includes 'public header only' plugins/x/x.c <<'C'
#include "base/buf.h"
C
catches "a public header that does not stand alone" upward_includes 'stands alone' \
    include/turncast/plugin.h <<'C'
#include "base/buf.h"
C
catches "libevent outside src/io" library_includes 'src/core/bad.c:1: libevent' src/core/bad.c <<'C'
#include <event2/event.h>
C
catches "SQLite outside src/io/sql.c" library_includes 'SQLite stays' src/io/journal.c <<'C'
#include <sqlite3.h>
C
catches "libseccomp outside its file" library_includes 'libseccomp stays' src/io/sandbox.c <<'C'
#include <seccomp.h>
C
catches "libcurl past the client" upward_includes 'through io/httpc.h' src/io/bad.c <<'C'
#include "io/libcurl.h"
C
catches "libcurl by itself" library_includes 'src/io/bad.c:1: libcurl comes' src/io/bad.c <<'C'
#include <curl/curl.h>
C
catches "libwebsockets past the client" upward_includes 'through io/websocket.h' src/io/bad.c <<'C'
#include "io/libwebsockets.h"
C
catches "libwebsockets by itself" library_includes 'src/io/bad.c:1: libwebsockets comes' \
    src/io/bad.c <<'C'
#include <libwebsockets.h>
C
catches "jansson in a dialect" library_includes 'jansson is for' src/dialect/bad.c <<'C'
#include <jansson.h>
C
catches "md4c outside its files" library_includes 'src/text/split.c:1: md4c' src/text/split.c <<'C'
#include <md4c.h>
C
catches "a thread in the pure part" library_includes 'pure: .*pthread.h' src/turn/bad.c <<'C'
#include <pthread.h>
C
done_testing
