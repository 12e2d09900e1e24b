# SPDX-License-Identifier: MIT
"""A real Redis server of a test, and a client of it."""
import os
import socket
import subprocess
import sys
import tempfile

from talk import until

PASSWORD = "correct:horse/battery@staple"


class Redis:
    """A server on a free port of the loopback interface, and a client of it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="turncast-redis.")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.start()

    def start(self):
        # The server by the name of a tool, as only the tools are installed.
        words = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder,
                 "--save", "", "--appendonly", "yes", "--requirepass", PASSWORD]
        self.process = subprocess.Popen(words, executable=which("redis-check-rdb"),
                                        stdout=subprocess.DEVNULL)
        until(self.answers, "Redis answers")

    def answers(self):
        try:
            return self("PING") == "PONG"
        except (OSError, EOFError):
            return False

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def __call__(self, *words):
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as s, s.makefile("rb") as f:
            for command in (["AUTH", PASSWORD], words):
                data = [w if isinstance(w, bytes) else str(w).encode() for w in command]
                s.sendall(b"*%d\r\n" % len(data) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in data))
                reply = read_reply(f)
            return reply


def which(program):
    for folder in os.environ["PATH"].split(":"):
        path = os.path.join(folder, program)
        if os.access(path, os.X_OK):
            return path
    print("1..0 # SKIP redis-tools is not installed")
    sys.exit(0)


def read_reply(f):
    line = f.readline()
    if not line:
        raise EOFError
    kind, rest = line[:1], line[1:-2]
    if kind == b"-":
        raise OSError(rest.decode())
    if kind == b":":
        return int(rest)
    if kind == b"+":
        return rest.decode()
    count = int(rest)
    if count < 0:
        return None
    if kind == b"*":
        return [read_reply(f) for _ in range(count)]
    return f.read(count + 2)[:-2].decode()
