# SPDX-License-Identifier: MIT
"""End-to-end conversations in Telegram: users, the service, the host, an agent. Cases are named after
requirements on a connector."""
import itertools
import json
import socket
import urllib.error
import urllib.request

from cases import await_, lines_of, run, same, session_of
from people import Question, messages, outcomes
from talk import TELEGRAM_TOKEN, Fake, Host, done, equal, note, telegram

ALLOWED = list(range(1000, 1100))
GROUPS = [-1001000 - n for n in range(10)]
EXTRA = """visibility : { show_tools = true; show_narration = true; };
conversations : { max_turns = 64; debounce_ms = 50; };"""
SECRET = "s3cret-of-ours"
OTHER_TOKEN = "777:FAKE-token-of-another-bot"
_people = iter(ALLOWED)
_words = itertools.count()


class Person:
    """A user who may ask, by default in their own private chat."""

    def __init__(self, fake, chat=None, thread=None):
        self.fake, self.id = fake, next(_people)
        self.chat, self.thread = str(chat or self.id), thread

    def say(self, text, **more):
        name = "caption" if "document" in more else "text"
        body = {"from": self.id, "chat": int(self.chat), name: text, **more}
        if self.thread:
            body["thread"] = self.thread
        return str(self.fake.control("message", body)["message_id"])

    def ask(self, words="", **more):
        id_ = f"q{next(_words)}"
        text = f"{'@fake_bot ' if int(self.chat) < 0 else ''}{words} id={id_}"
        message = self.say(text, **more)
        return Question("telegram", self.chat, message, id_)

    def seen(self, question):
        found = messages(self.fake, question.chat)
        return [m for m in found if str(m.get("reply_to")) == question.message]

    def answer(self, question):
        return await_(lambda: outcomes(self, question), f"the outcome of {question}")[0]

    def sees_end_of(self, question):
        """Waits until the messages show that the turn was stopped."""
        said = "Stopped."
        await_(lambda: [m for m in self.seen(question) if m["text"] == said], said)

    def hear(self, text, **more):
        query = {"visible": 1, "from": "bot", "chat": self.chat, "text": text, **more}
        return self.fake.wait(**query)[0]

    def calls(self, *methods):
        calls = [r for r in self.fake.record() if r["kind"] == "call" and r["chat"] == self.chat]
        return [r for r in calls if not methods or r["method"] in methods]


def stranger(fake, host):
    """R21: a user who is not allowed gets no answer, and nothing is stored"""
    fake.control("message", {"from": 9999, "text": "tools=1 zanzibar"})
    fake.control("message", {"from": 9999, "text": "/status"})
    friend = Person(fake)
    friend.answer(friend.ask())
    told = [r for r in fake.record() if r["kind"] == "call" and r["chat"] == "9999"]
    same(told, [], "messages to the stranger")
    for path in host.state.rglob("*"):
        assert not path.is_file() or b"zanzibar" not in path.read_bytes(), path


def stop_by(text):
    def case(fake, host):
        person = Person(fake)
        question = person.ask("tools=1 ms=600000")
        person.hear("Looking at part 1", buttons=1)
        said = Question("telegram", person.chat, person.say(text), "-")
        person.sees_end_of(question)
        person.hear("Stopped")
        fake.wait(visible=1, gone=1, chat=person.chat, text="Looking at part 1")
        person.answer(person.ask())
        same(outcomes(person, said), [], "the agent's answer to it")

    case.__doc__ = f"R19: {text!r} visibly stops the turn, and is not passed to the agent"
    return case


def stop_by_button(fake, host):
    """R19, R21: the button stops the turn, but not for a stranger"""
    person = Person(fake)
    question = person.ask("tools=1 ms=600000")
    shown = person.hear("Looking at part 1", buttons=1)
    press = {"chat": int(person.chat), "message_id": shown["id"], "button": "⏹ Stop"}
    fake.control("callback", {**press, "from": 9999})
    fake.wait(method="answerCallbackQuery", text="You are not allowed to stop this")
    person.hear("Looking at part 1", buttons=1)
    fake.control("callback", {**press, "from": person.id})
    person.sees_end_of(question)


def queue(fake, host):
    """R26: messages during a turn wait, are reported as waiting, are joined, and are answered in order"""
    person = Person(fake)
    first = person.ask("tools=1 gated")
    person.hear("Looking at part 1")
    second, third = person.ask("second"), person.ask("third")
    person.say("/queue")
    person.hear("2 messages in the queue")
    host.let_go(first.id)
    await_(lambda: outcomes(person, second) or outcomes(person, third), "the second")
    fourth = person.answer(person.ask())
    found = [m for m in messages(fake, person.chat) if m["text"].startswith("Answer")]
    same(len(found), 3, "answers to four messages")
    same([found[0], found[2]], [person.answer(first), fourth], "the first and the last")


def sessions(fake, host):
    """R27: the session continues, and /new begins another one"""
    person = Person(fake)
    told = [session_of(person.answer(person.ask())) for _ in range(2)]
    same(told[0], told[1], "the session of the second turn")
    person.say("/new")
    assert session_of(person.answer(person.ask())) != told[0], "the same session after /new"


def flood(fake, host):
    """R5, R6: a demanded pause is observed and reported, and the answer is the first request after it"""
    person = Person(fake)
    match = {"method": ["sendMessage", "editMessageText"], "chat": person.chat}
    fake.control("fault", {"match": match, "do": "flood", "retry_after": 15})
    question = person.ask("tools=3 gated")
    fake.wait(method="sendMessage", status=429, chat=person.chat)
    host.let_go(question.id, 3)
    person.answer(question)
    calls = person.calls("sendMessage", "editMessageText")
    pause = calls[1]["t"] - calls[0]["t_done"]
    assert calls[0]["status"] == 429 and pause >= 15.0, pause
    assert calls[1]["text"].startswith("Answer"), calls[1]
    same(host.log().count("tg: rate-limited by the service (429); sending resumes in 15.0 s"), 1, host.log())


def lost_answer(fake, host):
    """R1: an answer that has possibly arrived is not sent again without a mark"""
    lose_answer(fake, host, Person(fake), "")
    person = Person(fake)
    lose_answer(fake, host, person, "tools=1 gated")
    edits = person.calls("editMessageText")
    assert "(may be a repeat)" in edits[-1]["text"], "the progress message is the answer"


def lose_answer(fake, host, person, words):
    match = {"method": "sendMessage", "chat": person.chat, "text": "^Answer"}
    fake.control("fault", {"match": match, "do": "reset", "done": True})
    question = person.ask(words)
    if words:
        person.hear("Looking at part 1")
        host.let_go(question.id)
    person.answer(question)
    person.answer(person.ask())
    found = ["(may be a repeat)" in m["text"] for m in outcomes(person, question)]
    same(sorted(found), [False, True], "answers that are marked")


def refused(fake, host):
    """R2: an answer whose entities are refused arrives as plain text"""
    person = Person(fake)
    match = {"method": "sendMessage", "chat": person.chat}
    words = "Bad Request: can't parse entities: x"
    fake.control("fault", {"match": match, "do": "error", "code": 400, "description": words})
    question = person.ask()
    same(person.answer(question)["entities"], [], "entities")
    same(len(outcomes(person, question)), 1)


def long_answer(fake, host):
    """R11: a long answer becomes several messages, and no text is lost"""
    person = Person(fake)
    question = person.ask("chars=9000")
    person.hear("Line 000224", buttons=0)
    await_(lambda: not any(m["buttons"] for m in messages(fake, person.chat)), "no progress")
    parts = messages(fake, person.chat)
    assert len(parts) > 1 and all(len(m["text"].encode("utf-16-le")) <= 8192 for m in parts)
    same([n for m in parts for n in lines_of(m["text"])], list(range(225)), "lines")
    same(len(outcomes(person, question)), 1)


def file_answer(fake, host):
    """R12: a very long answer becomes its beginning and a file"""
    person = Person(fake)
    person.ask("chars=100000")
    call = fake.wait(method="sendDocument", chat=person.chat, status=200)[0]
    id_ = call["answer"]["result"]["document"]["file_id"]
    same(lines_of(fake.get("file", id=id_).decode()), list(range(2500)), "lines of the file")
    await_(lambda: len(messages(fake, person.chat)) == 2, "its beginning and a file, no more")


def topic(fake, host):
    """R24: in a topic every message goes to this topic"""
    chat = GROUPS[0]
    fake.control("chat", {"id": chat, "type": "supergroup", "is_forum": True, "topics": [7]})
    person = Person(fake, chat, 7)
    question = person.ask("tools=1 gated chars=9000")
    person.hear("Looking at part")
    host.let_go(question.id)
    person.hear("Line 000224", buttons=0)
    fake.wait(visible=1, gone=1, chat=chat, text="Looking at part")
    same(len(messages(fake, person.chat)), 3, "messages of the answer")
    for method in ("sendMessage", "sendChatAction"):
        threads = {r["params"].get("message_thread_id") for r in person.calls(method)}
        same(threads, {7}, method)


def attachment(fake, host):
    """R28: a file arrives as a path that the agent can read"""
    person = Person(fake)
    notes = {"file_name": "my notes.txt", "content": "x" * 4321}
    assert "The files have 4321 bytes." in person.answer(person.ask(document=notes))["text"]


def group(fake, host):
    """R29: in a group only users who address the bot are answered, and no bots"""
    chat = GROUPS[1]
    fake.control("chat", {"id": chat, "type": "supergroup"})
    person = Person(fake, chat)
    alone = Question("telegram", person.chat, person.say("tools=1 id=alone"), "alone")
    other = Question("telegram", person.chat, person.say("/stop@other_bot"), "-")
    first = person.ask("with a mention")
    shown = person.answer(first)
    reply = person.say("id=reply", reply_to=shown["id"])
    person.answer(Question("telegram", person.chat, reply, "reply"))
    speak(fake, person, 900, "machine", is_bot=True)
    speak(fake, person, 901, "human", is_bot=False)
    person.hear("Answer human")
    same([person.seen(alone), person.seen(other)], [[], []], "answers to messages that do not address the bot")
    same([m for m in messages(fake, person.chat) if "machine" in m["text"]], [], "answers to a bot")


def speak(fake, person, message_id, id_, is_bot):
    sender = {"id": person.id, "is_bot": is_bot, "first_name": "A"}
    message = {
        "message_id": message_id,
        "date": 1,
        "from": sender,
        "chat": {"id": int(person.chat), "type": "supergroup"},
        "text": f"@fake_bot id={id_}",
        "entities": [{"type": "mention", "offset": 0, "length": 9}],
    }
    fake.control("update", {"update": {"message": message}})


CASES = [  # the longest first
    *(topic, queue, lost_answer, flood, group),
    *(stop_by(text) for text in ("/stop", "stop", "!stop", " /stop", "/STOP@fake_bot")),
    *(stranger, stop_by_button, sessions, refused, long_answer, file_answer, attachment),
]


# ---- what concerns all: one after the other


def twice(fake, host):
    """R18: updates that are delivered again are answered once"""
    person = Person(fake)
    first = person.ask()
    person.answer(first)
    fake.wait(polling=1)
    fake.control("options", {"updates_lost": 3})
    second = person.ask()
    person.answer(second)
    same([len(outcomes(person, q)) for q in (first, second)], [1, 1])
    polls = [r for r in fake.record() if r.get("method") == "getUpdates" and r.get("status") == 200]
    texts = [u.get("message", {}).get("text") for r in polls for u in r["answer"]["result"]]
    same(texts.count(f" id={first.id}"), 2, "how often the message arrived")


def conflict(fake, host):
    """R16: the connector waits for another poller to stop, and reports it"""
    person = Person(fake)
    words = "Conflict: terminated by other getUpdates request"
    fake.control(
        "fault",
        {"match": {"method": "getUpdates"}, "do": "error", "code": 409, "description": words},
    )
    person.answer(person.ask())
    person.answer(person.ask())
    same(host.log().count("another process is polling"), 1)


def drops(fake, host):
    """R16: polling continues after polls that are reset, cut, or answered with invalid data"""
    person = Person(fake)
    for kind in ("reset", "html", "garbage"):
        fake.control("fault", {"match": {"method": "getUpdates"}, "do": kind, "done": False})
    question = person.ask()
    person.answer(question)
    person.answer(person.ask())
    same(len(outcomes(person, question)), 1)


def restart(fake, host):
    """R26, R27: after a kill the session continues, and waiting messages are answered"""
    person, busy = Person(fake), Person(fake)
    told = session_of(person.answer(person.ask()))
    cut = busy.ask("tools=1 ms=600000")
    busy.hear("Looking at part 1")
    waits = busy.ask("waits")
    fake.wait(polling=1)
    host.kill()
    host.start()
    same(session_of(person.answer(person.ask())), told, "the session after the restart")
    assert busy.answer(cut)["text"].startswith("⚠")
    busy.answer(waits)
    same([len(outcomes(busy, q)) for q in (cut, waits)], [1, 1])


def rejected(fake):
    return [v for v in fake.violations() if v["rule"] == "bad-token"]


def bad_token(fake, host):
    """R2, R16: a refused token is reported once, and its answers wait for a valid token"""
    person = Person(fake)
    fake.wait(polling=1)
    question = person.ask("tools=1 gated")
    person.hear("Looking at part 1")
    fake.control("options", {"token": "123456:another"})
    host.let_go(question.id)
    await_(lambda: "refuses the credentials" in host.log(), "the refused token is logged")
    fake.control("options", {"token": "123456:FAKE-telegram-token"})
    same(host.run("restart", "tg")[0], 0, "the restart")
    person.answer(question)
    same(host.stop(), 0, "the end of the host")
    same(host.log().count("refuses the credentials"), 1, "how often the refused token is logged")
    same(host.log().count("FAKE-telegram-token"), 0, "the token in the log")
    assert len(rejected(fake)) < 8, rejected(fake)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def hit(url, secret, person):
    """Posts an update to the webhook; returns the status of the response."""
    sender = {"id": person.id, "is_bot": False, "first_name": "A"}
    chat = {"id": int(person.chat), "type": "private"}
    message = {"message_id": 77, "date": 1, "from": sender, "chat": chat, "text": "id=hit"}
    headers = {"X-Telegram-Bot-Api-Secret-Token": secret} if secret else {}
    body = json.dumps({"update_id": 5000, "message": message}).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), None, 30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def webhook(fake, host, url):
    """R21: updates to the webhook are answered, with the right secret only"""
    person = Person(fake)
    person.answer(person.ask())
    same([hit(url, secret, person) for secret in ("wrong", None)], [401, 401], "a bad secret")
    same([hit(url, SECRET, person) for _ in range(2)], [200, 200], "the right one, twice")
    person.hear("Answer hit")
    person.answer(person.ask())
    same(len(messages(fake, person.chat)), 3, "answers")
    same([r for r in fake.record() if r.get("method") == "getUpdates"], [], "polls")
    same(host.stop(), 0, "the end of the host")
    same(fake.violations(), [], "requests that a strict service rejects")


def new_numbers(fake, host):
    """R18: messages whose update ids start again at a lower number are answered once"""
    person = Person(fake)
    first = person.ask()
    person.answer(first)
    fake.wait(polling=1)
    fake.control("options", {"next_update": 300})
    second = person.ask()
    person.answer(second)
    same(host.stop(), 0, "the end of the host")
    host.start()
    third = person.ask()
    person.answer(third)
    same([len(outcomes(person, q)) for q in (first, second, third)], [1, 1, 1])


def other_bot(fake, host, other):
    """R18: another bot under the name of the instance answers messages that have the ids of earlier messages"""
    person = Person(fake)
    first = person.ask()
    person.answer(first)
    same(host.stop(), 0, "the end of the host")
    person.fake = other
    second = person.ask()
    same(second.message, first.message, "the id of a message to the other bot")
    text = host.config.read_text().replace(f":{fake.port}", f":{other.port}")
    host.config.write_text(text.replace(TELEGRAM_TOKEN, OTHER_TOKEN))
    host.start()
    person.answer(second)
    same(len(outcomes(person, second)), 1)
    same(host.stop(), 0, "the end of the host")
    same([host.log().count(OTHER_TOKEN), other.violations()], [0, []], "tokens in the log, rejected requests")


def through_another_bot():
    with Fake("telegram") as fake, Fake("telegram") as other:
        other.control("options", {"token": OTHER_TOKEN})
        with Host(telegram(fake, allow=ALLOWED), extra=EXTRA) as host:
            fake.wait(polling=1)
            run([other_bot], fake, host, other)


def through_webhook():
    with Fake("telegram") as fake:
        port = free_port()
        url = f"http://127.0.0.1:{port}/hooks/tg/update"
        options = telegram(fake, allow=ALLOWED, webhook=url, webhook_secret=SECRET)
        with Host(options, extra=EXTRA + f'http : {{ listen = "127.0.0.1:{port}"; }};') as host:
            fake.wait(method="setWebhook", status=200)
            run([webhook], fake, host, url)


def main():
    with Fake("telegram") as fake:
        fake.control("message", {"from": 9999, "chat": 9999, "text": "early zanzibar"})
        with Host(telegram(fake, allow=ALLOWED), extra=EXTRA) as host:
            fake.wait(polling=1)
            run(CASES, fake, host)
            run([twice, conflict, drops, restart, new_numbers], fake, host, at_once=1)
            equal(fake.violations(), [], "a strict service rejected no request")
            note(f"{len(fake.record())} records")
            run([bad_token], fake, host, at_once=1)
    through_webhook()
    through_another_bot()
    done()


main()
