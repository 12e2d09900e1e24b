#!/bin/sh
# SPDX-License-Identifier: MIT
# The connector @NAME@: posts answers to a service. The host starts it and exchanges lines of JSON with
# it; turncast-exec(7) describes them all. Needs jq, and curl if there is a URL.
set -u

# To the host: one object per line. To its log: a level (E, W, I or D) and a text.
say() { printf '%s\n' "$1"; }
log() { printf '%s! %s\n' "$1" "$2" >&2; }

# field FILTER: of the line that was read; "" if it is not there.
field() { printf '%s\n' "$line" | jq -r "$1 // empty"; }

# To the service, which gets {"id", "chat", "text"}. URL and TOKEN are of the environment.
post() {
    [ -n "${URL:-}" ] || return 0
    printf '%s\n' "$line" |
        jq -c '{id: .turn, chat: (.route.chat // "main"), text: (.event.payload | .text // .message)}' |
        curl -fsS --max-time 30 -H 'Content-Type: application/json' \
            -H "Authorization: Bearer ${TOKEN:-}" --data-binary @- "$URL" >/dev/null
}

say '{"tc":"hello","protocol":1,"name":"@NAME@","wants":["final","error"],"delivers":true}'
while IFS= read -r line; do
    case $(field .tc) in
    event)
        # The host keeps an event, across restarts, until it is acknowledged.
        log I "$(field '"to \(.route.chat // "main"): \(.event.payload | .text // .message)"' | tr '\n' ' ')"
        if post; then
            say "{\"tc\":\"ack\",\"n\":$(field .n)}"
        else
            log W "the service does not answer"
            say "{\"tc\":\"nack\",\"n\":$(field .n),\"retry_ms\":5000}"
        fi
        ;;
    ping) say "{\"tc\":\"pong\",\"n\":$(field .n)}" ;;
    stop) exit 0 ;;
    esac
done
