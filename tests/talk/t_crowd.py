# SPDX-License-Identifier: MIT
"""Two hundred conversations at once through one instance: the pace is kept as the service sees
it, and no answer waits for more than its place in the pace."""
from people import TelegramPeople, outcomes
from talk import Fake, Host, done, equal, note, ok, telegram, until

PEOPLE = 200


def main():
    with Fake("telegram") as fake:
        crowd = TelegramPeople(fake, PEOPLE)
        limits = f"conversations : {{ max_turns = {PEOPLE}; }};"
        with Host(telegram(fake, allow=crowd.ids), extra=limits) as host:
            fake.wait(polling=1)
            asked = [crowd.ask(who, f"c{who}", "tools=5 ms=2000") for who in range(PEOPLE)]
            until(lambda: all(outcomes(crowd, q) for q in asked), "all answers arrive", 180)
            equal([len(outcomes(crowd, q)) for q in asked], [1] * PEOPLE, "each once")
            equal(fake.violations(), [], "the pace was never exceeded")
            note(f"host: {host.cpu_seconds():.2f} s CPU, {host.memory_kib()} KiB at most")
            equal(host.stop(), 0, "the host ends well")
            ok("error" not in host.log(), "without a complaint", host.log())
    done()


main()
