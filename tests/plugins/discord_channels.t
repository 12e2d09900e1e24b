#!/bin/sh
# SPDX-License-Identifier: MIT
# The connector discord remembers 2,000 channels and then forgets them. A message that waits
# meanwhile is not lost, because its channel is looked up again.
: "${TURNCAST_SCRIPT:?}" "${TURNCAST_PLUGIN_PATH:?}"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/turncast-channels.XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# message ID CHANNEL: prints a message that mentions the bot in a server.
message() {
    cat <<S
frame text {"op":0,"s":2,"t":"MESSAGE_CREATE","d":{"id":"$1","channel_id":"$2","guild_id":"G1","type":0,"author":{"id":"U1"},"content":"<@B1> x","mentions":[{"id":"B1"}]}}
S
}

# press CHANNEL: prints a pressed button, which names the kind of its channel.
press() {
    cat <<S
frame text {"op":0,"s":2,"t":"INTERACTION_CREATE","d":{"id":"60","type":3,"application_id":"A1","token":"interaction-token","channel_id":"$1","guild_id":"G1","channel":{"id":"$1","type":0},"member":{"user":{"id":"U1"}},"message":{"id":"40"},"data":{"custom_id":"x"}}}
secret i60 interaction-token
S
}

{
    cat <<'S'
option token canary-token
auto @me 200 {"id":"A1","bot":{"id":"B1"}}
auto commands 200 []
auto callback 204
auto i60 200 {"id":"71"}
init
> bot
< 200 {"url":"wss://gw.test"}
ws open
frame text {"op":10,"d":{"heartbeat_interval":40000}}
ws send {"op":2}
frame text {"op":0,"s":1,"t":"READY","d":{"session_id":"S1","resume_gateway_url":"wss://re.test","user":{"id":"B1"}}}

= a message that waits while the channels are forgotten is passed on, and so is the next one
S
    message 50 C1
    cat <<'S'
> C1
submit {"id":"50"} = accepted
< 200 {"id":"C1","type":0}
S
    press first
    echo 'log warn the button was not created by this instance'
    i=0
    while [ $((i += 1)) -le 1997 ]; do
        press "N$i"
    done
    message 51 T1
    echo '> T1 as thread'
    message 52 C1
    press last
    cat <<'S'
submit {"id":"51","chat":"C1","thread":"T1"} = accepted
< thread 200 {"id":"T1","type":11,"parent_id":"C1"}
> T1
> C1
submit {"id":"52","chat":"C1"} = accepted
< 200 {"id":"C1","type":0}
S
} >"$scratch/channels.script"
"$TURNCAST_SCRIPT" "$TURNCAST_PLUGIN_PATH/discord.so" "$scratch/channels.script"
