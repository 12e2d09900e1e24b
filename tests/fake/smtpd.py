#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A mail server for tests: takes e-mails by SMTP on loopback, and errs on request.

    smtpd.py LOG [--tls PEM] [--auth USER:PASSWORD] [--port PORT]

Prints "listening PORT", then appends one JSON line to LOG per e-mail that it took: from, to, data,
tls, user. With --tls it offers STARTTLS with the key and the certificate of that file; with --auth
it takes e-mails after AUTH PLAIN only. The first recipient's name says what goes wrong:

    refused  550 to RCPT                later    451 to RCPT
    drop     closes after DATA          part     closes in the message
    lost     takes the e-mail, and closes without a reply
    dot4     452 to the message         dot5     554 to the message
    mute     takes the e-mail and never replies
    weird    a reply without a status to the message
"""
import argparse
import asyncio
import base64
import json
import ssl

REFUSALS = {"refused": "550 5.1.1 no such user", "later": "451 4.2.1 try later"}
RESULTS = {"dot4": "452 4.3.1 no room", "dot5": "554 5.7.1 unwanted", "weird": "what?"}


class Session:
    """One connection."""

    def __init__(self, args, reader, writer):
        self.args, self.reader, self.writer = args, reader, writer
        self.tls, self.user, self.sender, self.to = False, None, None, []

    async def say(self, *lines):
        for i, line in enumerate(lines):
            if i + 1 < len(lines):
                line = line[:3] + "-" + line[4:]
            self.writer.write(line.encode() + b"\r\n")
        await self.writer.drain()

    async def greet(self):
        features = ["250 fake", "250 SIZE 1000000", "250 8BITMIME"]
        if self.args.tls and not self.tls:
            features.append("250 STARTTLS")
        if self.args.auth:
            features.append("250 AUTH PLAIN")
        await self.say(*features)

    async def start_tls(self):
        await self.say("220 go ahead")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.args.tls)
        await self.writer.start_tls(context)
        self.tls = True

    async def authenticate(self, words):
        given = words[2] if len(words) > 2 else None
        if given is None:
            await self.say("334 ")
            given = (await self.reader.readline()).decode().strip()
        _, user, password = base64.b64decode(given).decode().split("\0")
        if f"{user}:{password}" != self.args.auth:
            await self.say("535 5.7.8 wrong user or password")
            return
        self.user = user
        await self.say("235 welcome")

    async def recipient(self, line):
        address = line[line.index("<") + 1:line.index(">")]
        refusal = REFUSALS.get(address.split("@")[0])
        if refusal:
            await self.say(refusal)
            return
        self.to.append(address)
        await self.say("250 ok")

    async def message(self):
        """Returns False if the connection ends."""
        fault = self.to[0].split("@")[0]
        await self.say("354 go on")
        if fault == "drop":
            return False
        if fault == "part":
            await self.reader.read(1000)
            return False
        data = await self.reader.readuntil(b"\r\n.\r\n")
        if fault not in RESULTS:
            self.log(data[:-3])
        if fault == "lost":
            return False
        if fault == "mute":
            await self.reader.read()
            return False
        await self.say(RESULTS.get(fault, "250 2.0.0 queued"))
        return True

    def log(self, data):
        mail = {"from": self.sender, "to": self.to, "data": data.decode(), "tls": self.tls, "user": self.user}
        with open(self.args.log, "a", encoding="utf-8") as file:
            file.write(json.dumps(mail) + "\n")

    async def command(self, line):
        """Returns False if the connection ends."""
        words = line.split()
        verb = words[0].upper() if words else ""
        if verb == "EHLO":
            await self.greet()
        elif verb == "STARTTLS" and self.args.tls:
            await self.start_tls()
        elif verb == "AUTH" and self.args.auth:
            await self.authenticate(words)
        elif verb == "MAIL" and self.args.auth and not self.user:
            await self.say("530 5.7.0 authentication required")
        elif verb == "MAIL":
            self.sender = line[line.index("<") + 1:line.index(">")]
            await self.say("250 ok")
        elif verb == "RCPT":
            await self.recipient(line)
        elif verb == "DATA":
            return await self.message()
        elif verb == "NOOP":
            await self.say("250 ok")
        elif verb == "QUIT":
            await self.say("221 bye")
            return False
        else:
            await self.say("500 unknown command")
        return True

    async def run(self):
        try:
            await self.say("220 fake ESMTP")
            while line := await self.reader.readline():
                if not await self.command(line.decode().strip()):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        self.writer.close()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("--tls")
    parser.add_argument("--auth")
    parser.add_argument("--port", type=int, default=0)
    args = parser.parse_args()
    server = await asyncio.start_server(lambda r, w: Session(args, r, w).run(), "127.0.0.1", args.port, limit=1 << 21)
    print("listening", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
