# SPDX-License-Identifier: MIT
"""Three hosts on three NATS servers that keep three copies; the server that leads a stream is killed."""
import time

from fleet import Fleet, natsd
from talk import LONG, done, note, ok, until

ELECTED_S = 30


def await_leader(cluster, stream):
    return until(lambda: cluster.leader(stream), f"the servers elect a leader of {stream}", 120)


def main():
    if not LONG or not natsd.available():
        print("1..0 # SKIP no nats-server" if LONG else "1..0 # SKIP only with TURNCAST_LONG=1")
        return
    with natsd.NatsCluster() as cluster, Fleet(cluster.servers, 20, 7, bus="replicas = 3;") as fleet:
        for _ in range(3):
            leader = await_leader(cluster, "TC_EV")
            began = time.monotonic()
            leader.kill()
            fleet.talk(1)
            await_leader(cluster, "TC_EV")
            stall = time.monotonic() - began
            note(f"without a leader for {stall:.1f} s")
            ok(stall <= ELECTED_S, "the servers have a leader again", stall)
            leader.start()
            fleet.talk(3)
        fleet.judge(0)
    done()


main()
