#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that a long stream uses no more memory than a short one: 100 MB (1 GB with TURNCAST_LONG=1)
# within 64 MiB.
. "$(dirname "$0")/cli.sh"

limit=65536
if grep -q 'S\["TC_SANITIZE_FLAGS"\]="..*"' "$TURNCAST_BUILDDIR/config.status"; then
    echo "1..0 # SKIP a sanitizer has its own idea of memory"
    exit 0
fi
mib=96
[ "${TURNCAST_LONG:-0}" = 1 ] && mib=960

# Prints a turn with text deltas and tools with large results, of the given size.
stream() {
    awk -v mib="$1" 'BEGIN {
        print "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"m\"}"
        for (i = 0; i < 6; i++) big = big (i ? big : "0123456789 abcdefghijklmnopqrstuvwxyz ")
        for (n = 0; bytes < mib * 1048576; n++) {
            line = "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_start\",\"message\":{\"id\":\"m" n "\",\"role\":\"assistant\"}}}"
            line = line "\n{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}}"
            for (i = 0; i < 50; i++)
                line = line "\n{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"some words of text " i " \"}}}"
            line = line "\n{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_stop\",\"index\":0}}"
            line = line "\n{\"type\":\"assistant\",\"message\":{\"id\":\"m" n "\",\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t" n "\",\"name\":\"Bash\",\"input\":{\"n\":" n "}}]}}"
            line = line "\n{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t" n "\",\"content\":\"" big "\"}]}}"
            print line
            bytes += length(line) + 1
        }
        print "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"\",\"session_id\":\"s\",\"num_turns\":1}"
    }'
}

for plugin in null "jsonl,path=/dev/null"; do
    stream "$mib" | "$TURNCAST_BUILDDIR/tests/fake/maxrss" "$turncast" replay -p "$plugin" - \
        2>"$scratch/err"
    is $? 0 "$mib MiB to $plugin"
    rss=$(tail -n 1 "$scratch/err")
    [ "$rss" -lt "$limit" ]
    result $? "$rss KiB are resident"
done
finish
