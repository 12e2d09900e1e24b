# SPDX-License-Identifier: MIT
"""Starts a fake for a test and calls its controls."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

# Conditions are met soon, except with a sanitizer on a loaded machine.
PATIENCE_S = 120
SANITIZED = bool(os.environ.keys() & {"ASAN_OPTIONS", "TSAN_OPTIONS"})  # the settings of tools/check
HERE = os.path.dirname(os.path.abspath(__file__))


def written(path):
    """Returns the complete lines of a file that another process writes."""
    text = path.read_bytes() if path.exists() else b""
    return text[: text.rfind(b"\n") + 1].decode().splitlines()


class Timeout(AssertionError):
    """The condition was not met in time."""


class Fake:
    def __init__(self, name, scale=1.0, port=0):
        command = [sys.executable, "-B", os.path.join(HERE, f"{name}.py")]
        command += ["--scale", str(scale), "--port", str(port)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = self._number("PORT")
        self.control_port = self._number("CONTROL")
        self.url = f"http://127.0.0.1:{self.port}"

    def _number(self, word):
        line = self.process.stdout.readline().decode().split()
        if len(line) != 2 or line[0] != word:
            raise RuntimeError(f"the fake said {line}, not {word}")
        return int(line[1])

    def _ask(self, path, body=None, timeout=70):
        url = f"http://127.0.0.1:{self.control_port}{path}"
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(url, data, timeout) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def control(self, name, body=None):
        status, text = self._ask(f"/_control/{name}", body or {})
        answer = json.loads(text)
        if status != 200:
            raise RuntimeError(f"{name}: {answer['error']}")
        return answer

    def get(self, page, **query):
        return self._ask(f"/_{page}?{urllib.parse.urlencode(query)}")[1]

    def record(self, since=0):
        return [json.loads(line) for line in self.get("record", since=since).splitlines()]

    def last_seq(self):
        """The number of the newest entry of the record; later ones are record(since=last_seq())."""
        return json.loads(self.get("last"))["seq"]

    def state(self, **query):
        return json.loads(self.get("state", **query))

    def screen(self):
        """The messages that users see now: those that are not deleted, with their last edit."""
        return json.loads(self._ask("/_control/screen")[1])

    def violations(self):
        return json.loads(self.get("violations"))

    def wait(self, timeout=PATIENCE_S, **query):
        path = "/_wait?" + urllib.parse.urlencode({"timeout": timeout, **query})
        status, text = self._ask(path, timeout=timeout + 60)
        if status == 400:
            raise RuntimeError(text.decode())
        if status != 200:
            raise Timeout(f"not within {timeout} s: {query}; there is {text.decode()[:2000]}")
        return json.loads(text)["matches"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
