# SPDX-License-Identifier: MIT
"""A connector is replaced while the service delays its reply: the answer stays queued, in doubt, and the next
process of the connector delivers it. Nothing becomes a dead letter."""
import shutil

from people import SlackPeople, TelegramPeople, messages, outcomes
from talk import BUILD, Fake, Host, done, equal, ok, slack, telegram, until

LIBRARIES = BUILD / "plugins" / ".libs"


def restart(host, instance):
    equal(host.run("restart", instance)[0], 0, f"{instance} is restarted")


def reload_option(host, instance):
    text = host.config.read_text()
    host.config.write_text(text.replace("max_parts = 3", "max_parts = 4"))
    status, said = host.run("reload")
    ok(instance in said, "a changed option restarts the instance", said)
    equal(status, 0, "the configuration is reloaded")


def replace_file(host, instance):
    """Replaces the plugin file as an installation does: another file with the same name."""
    new = host.folder / "new.so"
    shutil.copy(LIBRARIES / "telegram.so", new)
    new.rename(host.folder / "telegram.so")
    status, said = host.run("reload")
    ok(instance in said, "another file of the plugin restarts the instance", said)
    equal(status, 0, "the configuration is reloaded")


def in_flight(fake, method, id_):
    fake.wait(method=method, text=f"^Answer {id_} of ", stage="arrived")


def judge(host, people, question, name):
    until(lambda: outcomes(people, question), f"{name}: the answer arrives")
    equal(len(outcomes(people, question)), 1, f"{name}: the answer arrives once")
    equal(host.run("dead", "list")[1], "No dead letters.\n", f"{name}: no dead letter")


def case(host, people, method, instance, replace):
    """The service reads the request, but neither executes nor answers it."""
    name = f"{instance}, {replace.__name__}"
    id_ = f"{instance}-{replace.__name__}".replace("_", "-")
    body = {"match": {"method": method, "text": f"^Answer {id_} of "}, "do": "hold"}
    people.fake.control("fault", {**body, "done": False, "hold": 600})
    question = people.ask(0, id_, "")
    in_flight(people.fake, method, id_)
    replace(host, instance)
    judge(host, people, question, name)
    return outcomes(people, question)[0]["text"]


def main():
    with Fake("telegram") as tg, Fake("slack") as sl:
        crowd, others = TelegramPeople(tg, 1), SlackPeople(sl, 1)
        instances = telegram(tg, allow=crowd.ids, max_parts=3) + slack(
            sl, allow=others.ids, stream=False
        )
        host = Host(instances)
        shutil.copy(LIBRARIES / "telegram.so", host.folder / "telegram.so")
        text = host.config.read_text()
        plugin = f'plugin = "{host.folder}/telegram.so"'
        host.config.write_text(text.replace('plugin = "telegram"', plugin))
        with host:
            tg.wait(polling=1)
            sl.wait(sockets=1)
            for replace in (restart, reload_option, replace_file):
                text = case(host, crowd, "sendMessage", "tg", replace)
                ok("(may be a repeat)" in text, "an answer that has possibly arrived is marked", text)
            text = case(host, others, "chat.postMessage", "sl", restart)
            ok("(may be a repeat)" not in text, "the connector asked Slack whether the answer arrived", text)
            equal(host.stop(), 0, "the host exits with status 0")
            equal(len(messages(tg, str(crowd.ids[0]))), 3, "there is no other message")
    done()


main()
