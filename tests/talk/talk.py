# SPDX-License-Identifier: MIT
"""Helpers of the end-to-end tests: a host with its directory, configuration and log."""
import base64
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(os.environ["TURNCAST_SRCDIR"]).resolve()
BUILD = pathlib.Path(os.environ["TURNCAST_BUILDDIR"]).resolve()
LONG = os.environ.get("TURNCAST_LONG") == "1"

for folder in ("fake", "tap"):
    sys.path.insert(0, str(SOURCE / "tests" / folder))

import drive  # noqa: E402  (its folder is known from here on)
import on_bus  # noqa: E402
from drive import PATIENCE_S, SANITIZED, written  # noqa: E402,F401
from tap import done, equal, failures, ok  # noqa: E402,F401

STUCK_S = 300  # without progress
TELEGRAM_TOKEN = "123456:FAKE-telegram-token"
AUDIT = "AUDIT"  # in the place of Host.audit
SLACK_TOKENS = ("xoxb-fake-bot", "xapp-fake-app", "fake-signing-secret")
MATRIX_TOKEN = "syt_fake_matrix_token"
TEAMS_SECRETS = ("fake~client.secret", "fake-teams-access-token")
NTFY_SECRETS = ("tk_fakentfyaccesstoken", "tk_fakentfybuttonstoken", "fake-ntfy-password")
WEBHOOK_SECRETS = (  # out, in
    "whsec_" + base64.b64encode(b"fake-webhook-secret-of-32-bytes!").decode(),
    "whsec_" + base64.b64encode(b"fake-inbound-secret-of-32-bytes!").decode(),
)
DISCORD_TOKEN = "fake-discord-bot-token.AAAAAA.not-a-real-one"
DISCORD_WEBHOOK_TOKEN = "fake-discord-webhook-token"


def note(text):
    print(f"# {text}", flush=True)


def rounds(count):
    """The number of rounds of a test: a third under a sanitizer, which makes each round three times as long."""
    return max(1, count // 3) if SANITIZED else count


def crowding():
    """The load of the machine per core, at least 1."""
    return max(1.0, os.getloadavg()[0] / os.cpu_count())


def until(condition, what, seconds=PATIENCE_S):
    """Waits until the condition holds and returns its value; reports a failed test after the deadline."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            ok(False, f"{what} (waited {seconds} s)")
            return found
        time.sleep(0.01)


class Progress:
    """Watches an operation that takes as long as the machine needs: it stands still when the value of `look`
    has not changed for the given number of seconds."""

    def __init__(self, look, seconds=STUCK_S):
        self.look = look
        self.seconds = seconds
        self.last, self.since = look(), time.monotonic()

    def stands_still(self):
        value = self.look()
        if value != self.last:
            self.last, self.since = value, time.monotonic()
        return time.monotonic() - self.since > self.seconds


def until_done(left, what, seconds=STUCK_S):
    """Waits until `left` returns nothing; reports a failed test when its value has not changed for too long."""
    progress = Progress(left, seconds)
    while progress.last:
        if progress.stands_still():
            ok(False, f"{what} (no progress for {seconds} s)", progress.last)
            return
        time.sleep(0.05)


class Fake(drive.Fake):
    """A fake service with a longer deadline for acknowledging an event than Slack's 3 s, but shorter than a
    turn."""

    def __init__(self, name, **more):
        super().__init__(name, **more)
        self.name = name
        if name == "slack":
            self.control("options", {"ack_time": 30})


class Host:
    """`turncast serve` with its own directory; it can be killed and started again."""

    def __init__(self, instances, *, events=False, agent="", agents="", extra=""):
        """events: the instance `log` writes all events to the file `events`; agent: additional configuration of the talker."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="turncast-talk."))
        self.state = self.folder / "state"
        self.log_path = self.folder / "log"
        self.events = self.folder / "events"
        self.audit = self.folder / "audit"
        self.gates = self.folder / "gates"
        self.config = self.folder / "turncast.conf"
        if events:
            instances += _instance("log", "jsonl", {"path": str(self.events)})
        talker = BUILD / "tests" / "fake" / "talker"
        self.config.write_text(
            f"""agents : {{ main : {{ command = ["{talker}", "-g", "{self.gates}"]; resume = ["{{session_id}}"];
    exit_grace_s = 1; term_grace_s = 1; attempts = 1;{agent and ' ' + agent} }}; {agents} }};
default_agent = "main";
state_directory = "{self.state}";
plugins : {{ instances : {{ {instances.replace(AUDIT, str(self.audit))} }}; }};
{extra}
{on_bus.sections(extra, instances)}
"""
        )
        self.config.chmod(0o600)
        self.state.mkdir(mode=0o700)
        self.gates.mkdir()
        self.process = None
        self.is_kept = False  # its folder, when it is closed

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.stop()
        told = self.leaks()
        if told:
            ok(False, "R23: no secret is in files and logs of the host", told)
        if not self.is_kept:
            shutil.rmtree(self.folder, ignore_errors=True)

    def leaks(self):
        """The files of the host, without the configuration, that contain a secret of a service."""
        files = [p for p in self.folder.rglob("*") if p.is_file() and p != self.config]
        tokens = (TELEGRAM_TOKEN, MATRIX_TOKEN, DISCORD_TOKEN, DISCORD_WEBHOOK_TOKEN)
        secrets = [s.encode() for s in (*tokens, *SLACK_TOKENS, *TEAMS_SECRETS, *WEBHOOK_SECRETS, *NTFY_SECRETS)]
        return [str(p) for p in files if any(s in p.read_bytes() for s in secrets)]

    def environment(self):
        own = dict(os.environ, HOME=str(self.folder), XDG_STATE_HOME=str(self.folder))
        own.setdefault("TURNCAST_PLUGIN_PATH", str(BUILD / "plugins" / ".libs"))
        return own

    def command(self):
        return [BUILD / "turncast", "serve", "-c", self.config]

    def start(self, **environment):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(self.environment(), **environment),
            )

    def kill(self):
        """Kills the host without warning, as a power failure does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process = None

    def stop(self, seconds=60):
        """Stops the host. Returns its exit status, or None if it had to be killed."""
        if not self.process:
            return None
        self.process.terminate()
        try:
            status = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = None
        self.process = None
        return status

    def run(self, *words):
        """Runs another command with the same configuration; returns its exit status and output."""
        done_ = subprocess.run(
            [BUILD / "turncast", words[0], "-c", self.config, *words[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=self.environment(),
            check=False,
        )
        return done_.returncode, done_.stdout + done_.stderr

    def has_started(self):
        """Whether each instance runs or is disabled; HTTP answers earlier."""
        status, text = self.run("status", "--json")
        instances = json.loads(text)["instances"] if status == 0 else []
        waits = [i for i in instances if i.get("starting") or (on_bus.WANTED and i.get("stands_by"))]
        return bool(instances) and not waits

    def let_go(self, id_, times=1):
        """Lets the agent pass the given number of waiting points of a question with the word `gated`."""
        with open(self.gates / id_, "a", encoding="ascii") as gate:
            gate.write("x" * times)

    def log(self):
        return self.log_path.read_text(errors="replace")

    def memory_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status).group(1))

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def telegram(fake, **options):
    """The instance `tg`, on a fake."""
    lines = {
        "token": TELEGRAM_TOKEN,
        "api_base": f"http://127.0.0.1:{fake.port}",
        "grants": ["submit", "cancel"],
        **options,
    }
    return _instance("tg", "telegram", lines)


def slack(fake, **options):
    """The instance `sl`, on a fake, by Socket Mode."""
    lines = {
        "bot_token": SLACK_TOKENS[0],
        "app_token": SLACK_TOKENS[1],
        "api_base": f"http://127.0.0.1:{fake.port}/api/",
        "grants": ["submit", "cancel"],
        **options,
    }
    return _instance("sl", "slack", lines)


def matrix(fake, **options):
    """The instance `mx`, on a fake. It does not limit its requests to those of a homeserver's account."""
    lines = {
        "homeserver": f"http://127.0.0.1:{fake.port}",
        "token": MATRIX_TOKEN,
        "user": "@bot:fake.example",
        "limited": False,
        "grants": ["submit", "cancel", "answer"],
        **options,
    }
    return _instance("mx", "matrix", lines)


def teams(fake, **options):
    """The instance `tm`, on a fake, which learns the address of the host from `listening`."""
    base = f"http://127.0.0.1:{fake.port}"
    lines = {
        "app_id": "fake-app-id",
        "app_password": TEAMS_SECRETS[0],
        "tenant": "fake-tenant",
        "service_url": f"{base}/amer/",
        "login_url": base,
        "openid_url": f"{base}/v1/.well-known/openidconfiguration",
        "grants": ["submit", "cancel", "answer"],
        **options,
    }
    return _instance("tm", "teams", lines)


def listening(fake, instance="tm"):
    """The configuration of an HTTP server at which the fake reaches the instance."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    fake.control("hook", {"url": f"http://127.0.0.1:{port}/hooks/{instance}/messages"})
    return f'http : {{ listen = "127.0.0.1:{port}"; }};\n'


def webhook(fake, name="wh", **options):
    """The instance `name`, with an endpoint that is a fake; it receives messages, too."""
    lines = {
        "url": f"http://127.0.0.1:{fake.port}/hook",
        "secret": WEBHOOK_SECRETS[0],
        "inbound_secret": WEBHOOK_SECRETS[1],
        "receive": True,
        "grants": ["submit", "cancel", "answer"],
        **options,
    }
    return _instance(name, "webhook", lines)


def discord(fake, **options):
    """The instance `dc`, a bot on a fake."""
    lines = {
        "token": DISCORD_TOKEN,
        "api_base": f"http://127.0.0.1:{fake.port}/api/v10",
        "grants": ["submit", "cancel", "answer"],
        **options,
    }
    return _instance("dc", "discord", lines)


def ntfy(fake, name="nt", **options):
    """The instance `name`, on a fake; its buttons publish to a second topic."""
    lines = {
        "server": f"http://127.0.0.1:{fake.port}",
        "topic": "fake-topic-a8b7c6",
        "token": NTFY_SECRETS[0],
        "answers": "fake-answers-a8b7c6",
        "answers_token": NTFY_SECRETS[1],
        "grants": ["answer"],
        "allow": ["ntfy"],
        **options,
    }
    if not lines["answers"]:
        del lines["answers_token"]
    return _instance(name, "ntfy", {k: v for k, v in lines.items() if v is not None})


def audit():
    """The instance `au`, a chained log of every event in the file Host.audit."""
    return _instance("au", "audit", {"path": AUDIT, "sync": "never"})


def _instance(name, plugin, lines):
    text = " ".join(f"{key} = {_value(value)};" for key, value in lines.items())
    return f'{name} : {{ plugin = "{plugin}"; {text} }};'


def _value(value):
    return json.dumps(value)
