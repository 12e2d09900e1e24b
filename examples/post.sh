#!/bin/sh
# SPDX-License-Identifier: MIT
# Posts each answer to $URL, and tries again after five seconds until it is taken.
# Instance: post = { plugin = "exec"; command = ["./post.sh"]; env = ["URL=env:URL"]; ports = [443]; };
echo '{"tc":"hello","protocol":1,"name":"post","wants":["final","error"],"delivers":true}'
while read -r line; do
    n=$(printf %s "$line" | jq .n)
    case $(printf %s "$line" | jq -r .tc) in
    event) printf %s "$line" | jq -r '.event.payload | .text // .message' |
        if curl -sSf -o /dev/null --data-binary @- "$URL"; then echo "{\"tc\":\"ack\",\"n\":$n}"
        else echo "{\"tc\":\"nack\",\"n\":$n,\"retry_ms\":5000}"; fi ;;
    ping) echo "{\"tc\":\"pong\",\"n\":$n}" ;;
    stop) exit ;;
    esac; done
