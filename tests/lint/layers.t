#!/bin/sh
# SPDX-License-Identifier: MIT
# No include runs upward: the layers of ARCHITECTURE.md, read from the #include lines.
. "$(dirname "$0")/lint.sh"

upward_includes() {
    # shellcheck disable=SC2046
    awk -f - $(sources '*.[ch]') /dev/null <<'AWK'
    BEGIN {
        split("base event dialect conf text turn policy chat io plugin remote core api cli", order, " ")
        split("0 1 2 2 2 3 3 3 3 4 4 5 6 7", ranks, " ")
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
    name ~ /libcurl_dl\.h$/ && FILENAME !~ /^src\/io\/http\/client\// {
        violation("HTTP is spoken through httpc.h"); next
    }
    name ~ /libwebsockets_dl\.h$/ && FILENAME !~ /^src\/io\/websocket\// {
        violation("websockets are spoken through websocket.h"); next
    }
    name ~ /libnats_dl\.h$/ && FILENAME !~ /^(src|tests)\/io\/nats\// {
        violation("NATS is spoken through nats_client.h"); next
    }
    part[1] == "include" && quoted { violation("the public header stands alone"); next }
    (part[1] == "plugins" || part[1] == "examples") && quoted && name ~ /\// &&
        !(dir[1] ~ /^(terminal|view)$/ && part[2] == "cli") {
        violation("a plugin sees the public header only"); next
    }
    part[1] ~ /^(plugins|examples|src)$/ && !quoted && dir[1] == "turncast" && name !~ /^turncast\/(chat|event|json|option|plugin|service)\.h$/ {
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
        only("^libconfig", "^src/conf/parse/conf_node\\.c$", "libconfig stays in conf_node.c")
        only("^(event2/|event\\.h)", "^src/io/[a-z_/]+\\.c$", "libevent stays in src/io")
        only("^jansson", "^(include/turncast/json\\.h|plugins/(cli|discord|exec|matrix|ntfy|slack|teams|telegram|webhook)/|src/(plugin/instance/services(_json)?|event/json/json_value|chat/[a-z_/]+|api/[a-z_/]+|cli/[a-z_/]+)\\.[ch]$)",
             "jansson is for plugin helpers and commands")
        only("^nettle/", "^(plugins/audit/|src/(plugin/(instance/services_crypto|outbox/outbox_(expand|mail)|signature/[a-z_]+)|chat/operation/chat_key|core/request/(approvals|request_ticket)|core/work/work_message|cli/inspect/audit_verify|dialect/(missy/missy_write|otlp/otlp_span)|api/(shared/auth|shared/chat_dedup|page))\\.c$)",
             "nettle is for audit chains, signatures, digests and Base64")
        only("^md4c", "^src/text/markdown/markdown[a-z_]*\\.[ch]$", "md4c stays in src/text/markdown")
        only("^hiredis", "^(src/io/redis/redis|plugins/redis/redis_server)\\.c$", "Redis is spoken through io/redis/redis.h")
        only("^seccomp", "^src/io/sandbox/sandbox_seccomp\\.c$", "libseccomp stays in sandbox_seccomp.c")
        only("^sqlite3", "^src/io/store/(sql|sqlite_salvage)\\.c$", "SQLite stays in sql.c and sqlite_salvage.c")
        only("^dlfcn", "^src/(plugin/abi/loader_module|io/[a-z_/]+/lib[a-z]+_dl)\\.c$",
             "modules are opened in loader_module.c, libraries in lib*_dl.c")
        only("^curl/", "^src/io/http/client/libcurl_dl\\.h$", "libcurl comes through libcurl_dl.h")
        only("^nats/", "^src/io/nats/libnats_dl\\.h$", "libnats comes through libnats_dl.h")
        only("^libwebsockets", "^src/io/websocket/libwebsockets_dl\\.h$",
             "libwebsockets comes through libwebsockets_dl.h")
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
        if (FILENAME ~ /^src\/(dialect|text|turn|policy)\// && name != "sys/queue.h" &&
            name ~ /^(pthread|threads|unistd|fcntl|poll|signal|sys\/|netinet\/)/)
            printf "%s:%d: pure: no I/O, no threads: %s\n", FILENAME, FNR, name
    }
AWK
}

# Folders of one layer may know each other in one direction only: in the order that tsort finds.
folder_cycles() {
    # shellcheck disable=SC2046
    awk -f - $(sources '*.[ch]') /dev/null <<'AWK' | sort -u >"$scratch/edges"
    FNR == 1 { from = FILENAME; sub(/\/[^\/]*$/, "", from) }
    from ~ /^src\// && /^[ \t]*#[ \t]*include[ \t]*"/ {
        to = $0
        sub(/^[^"]*"/, "src/", to)
        sub(/\/[^\/]*$/, "", to)
        if (to != from) print from, to
    }
AWK
    tsort "$scratch/edges" 2>&1 >/dev/null | sed "s|^tsort: $scratch/edges: ||"
}

# The other half of a cycle.
cycle_of_two() {
    mkdir -p src/io/process
    echo '#include "io/loop/loop.h"' >src/io/process/half.c
    folder_cycles
}

holds "no include runs upward" upward_includes
holds "no folders include each other in a circle" folder_cycles
holds "libraries stay behind their files" library_includes
catches "an upward include" upward_includes 'src/event/bad.c:2: event must not know core' \
    src/event/bad.c <<'C'
/* comment */
#include "core/turn/turn.h"
C
catches "a sideways include" upward_includes 'turn must not know io' src/turn/bad.c <<'C'
# include "io/loop/loop.h"
C
catches "two folders that include each other" cycle_of_two 'loop' src/io/loop/bad.c <<'C'
#include "io/process/process.h"
C
catches "a path out of the folder" upward_includes 'relative to src' src/turn/bad.h <<'C'
#include "../io/loop.h"
C
catches "a plugin that looks inside" upward_includes 'public header only' plugins/x/x.c <<'C'
#include "base/bytes/buf.h"
C
catches "a public header that does not stand alone" upward_includes 'stands alone' \
    include/turncast/plugin.h <<'C'
#include "base/bytes/buf.h"
C
catches "libevent outside src/io" library_includes 'src/core/bad.c:1: libevent' src/core/bad.c <<'C'
#include <event2/event.h>
C
catches "SQLite outside src/io/store/sql.c" library_includes 'SQLite stays' src/io/journal/journal.c <<'C'
#include <sqlite3.h>
C
catches "libseccomp outside its file" library_includes 'libseccomp stays' src/io/sandbox/sandbox.c <<'C'
#include <seccomp.h>
C
catches "libcurl past the client" upward_includes 'through httpc.h' src/io/bad.c <<'C'
#include "io/http/client/libcurl_dl.h"
C
catches "libcurl by itself" library_includes 'src/io/bad.c:1: libcurl comes' src/io/bad.c <<'C'
#include <curl/curl.h>
C
catches "libwebsockets past the client" upward_includes 'through websocket.h' src/io/bad.c <<'C'
#include "io/websocket/libwebsockets_dl.h"
C
catches "libwebsockets by itself" library_includes 'src/io/bad.c:1: libwebsockets comes' \
    src/io/bad.c <<'C'
#include <libwebsockets.h>
C
catches "jansson in a dialect" library_includes 'jansson is for' src/dialect/bad.c <<'C'
#include <jansson.h>
C
catches "md4c outside its files" library_includes 'src/text/render/split.c:1: md4c' src/text/render/split.c <<'C'
#include <md4c.h>
C
catches "a thread in the pure part" library_includes 'pure: .*pthread.h' src/turn/bad.c <<'C'
#include <pthread.h>
C
done_testing
