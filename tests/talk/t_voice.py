# SPDX-License-Identifier: MIT
"""Voice messages with the option `transcribe` on each service that has them: the agent gets the text, not the
file. The services name the files differently; the transcriber of this test prints the content of the file."""
from people import DiscordPeople, MatrixPeople, SlackPeople, TelegramPeople, messages
from talk import Fake, Host, discord, done, equal, matrix, note, ok, slack, telegram, until

EXTRA = "conversations : { debounce_ms = 0; };"


def telegram_voice(fake, who, content):
    """Telegram gives a voice message a media type and no name."""
    fake.control("message", {"from": who, "voice": {"content": content}})
    return str(who)


def matrix_voice(fake, who, content):
    """Element names a voice message "Voice message"; only the media type says that it is audio."""
    room = who.split(":")[0].replace("@", "!") + ":fake.example"
    file = {"name": "Voice message", "content": content, "type": "audio/ogg; codecs=opus"}
    fake.control("say", {"user": who, "room": room, "text": "", "file": file})
    return room


def discord_voice(fake, who, content):
    file = {"name": "voice-message.ogg", "content": content, "type": "audio/ogg"}
    chat = DiscordPeople.chat(who)
    fake.control("message", {"user": who, "channel": chat, "flags": 1 << 13, "files": [file]})
    return chat


def slack_voice(fake, who, content):
    chat = "D" + who[1:]
    fake.control("message", {"user": who, "channel": chat, "files": [{"name": "audio_message.m4a", "content": content}]})
    return chat


SERVICES = [  # the last column: the state of the fake when the connector listens
    ("telegram", telegram, TelegramPeople, telegram_voice, {"polling": 1}),
    ("matrix", matrix, MatrixPeople, matrix_voice, {"polling": 1}),
    ("discord", discord, DiscordPeople, discord_voice, {"sockets": 1}),
    ("slack", slack, SlackPeople, slack_voice, {"sockets": 1}),
]


def on_service(name, instance, people, say, listens):
    with Fake(name) as fake:
        who = people(fake, 1).ids[0]
        with Host(instance(fake, allow=[who], transcribe=["cat"]), extra=EXTRA) as host:
            fake.wait(**listens)
            chat = say(fake, who, "words=3 id=spoken")
            until(lambda: any("Answer " in m["text"] for m in messages(fake, chat)), f"{name}: an answer")
            texts = "\n".join(m["text"] for m in messages(fake, chat))
            ok("Answer spoken of " in texts, f"{name}: the agent gets the output of the transcriber", texts)
            ok("The files have" not in texts, f"{name}: the agent gets no file", texts)
            note(f"{name}: {len(fake.record())} records")
        equal(fake.violations(), [], f"{name}: a strict service rejected no request")


def main():
    for service in SERVICES:
        on_service(*service)
    done()


main()
