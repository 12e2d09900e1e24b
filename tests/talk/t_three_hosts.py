# SPDX-License-Identifier: MIT
"""Three connected hosts: an agent runs on the first, a user decides in Telegram on the second, and the page of
the third shows the turn and continues at another host."""
import json
import pathlib
import sys

from deciders import ASKER, Person
from talk import Fake, done, equal, ok, telegram, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from bus import Member, natsd  # noqa: E402

AGENT = f'asker : {{ command = ["{ASKER}"]; attempts = 1; exit_grace_s = 1; term_grace_s = 1; hosts = ["a"]; }};'


def seqs(events):
    return [number for number, kind, _ in events if kind == "message"]


def runs(server, turn):
    """The host on which the turn was begun."""
    client = server.client()
    told = client.request("$JS.API.DIRECT.GET.KV_tc_run", json.dumps({"last_by_subj": f"$KV.tc_run.{turn}"}))
    client.close()
    return json.loads(told.data)["from"]["host"] if told.data else None


def decided(server, fake, a, c):
    person = Person(fake)
    card = person.is_asked("run=df -h /srv")
    turn = until(lambda: [t["id"] for t in c.turns() if "df -h" in (t.get("task") or "")], "the third host knows the turn")[0]
    page = c.follow(f"/turns/{turn}/events")
    equal(runs(server, turn), "a", "the turn runs on the first host")
    seen = [page.next()]
    while json.loads(seen[-1][2])["type"] != "request":
        seen.append(page.next())
    until(lambda: c.turn(turn).get("requests"), "the third host knows the open request")
    page.close()
    equal(person.press(card, "Allow")[0], "Allowed.", "a user decides in Telegram on the second host")
    c.await_state(turn, "final")
    after = a.follow(f"/turns/{turn}/events", Last_Event_ID=str(seen[-1][0])).rest()
    equal(seqs(seen) + seqs(after), [n for n, _ in c.all_events(turn)],
          "a client of the third host continues at the first host, without a gap or a repetition")
    told = [json.loads(data) for _, kind, data in after if kind == "message"]
    ok(any(e["type"] == "request" and e["payload"].get("by") for e in told), "the client sees who decided")
    equal((told[-1]["type"], c.turn(turn)["state"]), ("done", "final"), "the client sees the end of the turn")
    person.sees_end(card, "Allowed by")


def main():
    if not natsd.available():
        print("1..0 # SKIP no nats-server")
        return
    with natsd.NatsServer() as server, Fake("telegram") as fake:
        bot = telegram(fake, allow=list(range(1000, 1080)), approvers=list(range(1000, 1080)), agent="asker",
                       grants=["submit", "cancel", "answer"], lead=False)
        with Member("a", server.url(), agents=AGENT) as a, \
                Member("b", server.url(), agents=AGENT, instances=bot, bus='roles = ["gateway"];') as b, \
                Member("c", server.url(), agents=AGENT, bus='roles = ["gateway"];') as c:
            for host in (a, b, c):
                host.await_bus()
            fake.wait(polling=1)
            decided(server, fake, a, c)
    done()


main()
