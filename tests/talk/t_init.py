# SPDX-License-Identifier: MIT
"""turncast init: a first configuration, from questions on a terminal or from options."""
import os
import pathlib
import pty
import select
import shutil
import signal
import stat
import subprocess
import tempfile
import time

from talk import BUILD, DISCORD_TOKEN, PATIENCE_S, SLACK_TOKENS, SOURCE, TELEGRAM_TOKEN, done, equal, ok
from drive import Fake

TURNCAST = str(BUILD / "turncast")
HELLO = "Hello from the fake."
AGENT = f"""#!/bin/sh
echo '{{"type":"system","subtype":"init","session_id":"s-1"}}'
read -r line
if [ -e "$HOME/fails" ]; then
    echo '{{"type":"result","subtype":"error_during_execution","is_error":true,"result":"Not logged in","session_id":"s-1"}}'
    exit 1
fi
echo '{{"type":"assistant","message":{{"id":"m","role":"assistant","content":[{{"type":"text","text":"{HELLO}"}}]}},"session_id":"s-1"}}'
echo '{{"type":"result","subtype":"success","is_error":false,"result":"{HELLO}","session_id":"s-1","num_turns":1}}'
"""


class Home:
    """A home directory with the programs of agents."""

    def __init__(self, *programs):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="turncast-init."))
        self.bin = self.path / "bin"
        self.bin.mkdir()
        for name in programs:
            (self.bin / name).write_text(AGENT)
            (self.bin / name).chmod(0o755)
        self.folder = self.path / ".config" / "turncast"
        self.conf = self.folder / "turncast.conf"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def environment(self, **more):
        kept = ("TURNCAST_PLUGIN_PATH", "TURNCAST_SHIM", "TURNCAST_CONNECTOR", "TMPDIR", "LD_PRELOAD")
        own = {name: os.environ[name] for name in kept if name in os.environ}
        own.update(HOME=str(self.path), PATH=f"{self.bin}:/usr/bin:/bin", LANG="C.UTF-8",
                   TERM="dumb", TURNCAST_DATA=str(SOURCE / "share"))
        own.setdefault("TURNCAST_PLUGIN_PATH", str(BUILD / "plugins" / ".libs"))
        return {**own, **more}

    def run(self, *arguments, **more):
        ended = subprocess.run([TURNCAST, *arguments], capture_output=True, text=True, timeout=120,
                               stdin=subprocess.DEVNULL, env=self.environment(**more))
        return ended.returncode, ended.stdout, ended.stderr

    def init(self, *arguments, **more):
        return self.run("init", *arguments, **more)

    def files(self):
        return sorted(p.name for p in self.folder.iterdir()) if self.folder.exists() else []

    def private(self):
        """Whether only the owner can read each file."""
        return all(stat.S_IMODE(p.stat().st_mode) == 0o600 for p in self.folder.iterdir())


class Terminal:
    """turncast init on a terminal."""

    def __init__(self, home, *arguments):
        self.seen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execve(TURNCAST, [TURNCAST, "init", *arguments], home.environment())

    def read(self):
        """The next output; "" at the end."""
        ready, _, _ = select.select([self.fd], [], [], PATIENCE_S)
        try:
            return os.read(self.fd, 65536).decode(errors="replace") if ready else ""
        except OSError:  # its end is closed
            return ""

    def answer(self, question, text):
        """Waits for a new question, and types the answer."""
        deadline = time.monotonic() + PATIENCE_S
        begin = len(self.seen)
        while question not in self.seen[begin:] and time.monotonic() < deadline:
            more = self.read()
            if not more:
                break
            self.seen += more
        ok(question in self.seen[begin:], f"terminal: {question}", self.seen[begin:])
        os.write(self.fd, text.encode() + (b"" if text == "\x03" else b"\n"))

    def end(self):
        while more := self.read():
            self.seen += more
        if select.select([self.fd], [], [], 0)[0] == []:
            os.kill(self.pid, signal.SIGKILL)  # it still waits for an answer
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def without_a_terminal():
    with Home() as home:
        status, _, err = home.init()
        equal(status, 2, "no agent: status 2")
        ok("no agent found in PATH" in err and "npm install -g @openai/codex" in err,
           "the error says how to install an agent", err)
        equal(home.files(), [], "without an agent no file is written")
    with Home("claude", "codex") as home:
        status, out, err = home.init(ANTHROPIC_API_KEY="sk-key-of-this-test")
        equal(status, 0, "two agents: status 0")
        ok(f"claude    {home.bin}/claude (login: ANTHROPIC_API_KEY)" in out, "an agent with a login is listed", out)
        ok(f"codex     {home.bin}/codex (no login found; run: codex login)" in out, "an agent without a login is listed", out)
        ok(HELLO in out, "init runs a turn", out)
        ok("Next, run: turncast run MESSAGE" in out, "the output has the next command", out)
        ok("sk-key-of-this-test" not in out + err + home.conf.read_text(), "the login is not shown")
        equal((home.files(), home.private()), (["turncast.conf"], True), "one file is written, readable by its owner only")
        equal(home.run("check")[:2], (0, f"{home.conf}: OK (2 agents, 1 instance)\n"), "check accepts it")
        before = home.conf.read_text()
        status, out, err = home.init("--agent", "codex")
        equal((status, home.conf.read_text()), (2, before), "an existing file is not changed")
        ok("exists; use --force" in err, "the error names --force", err)
        status, out, _ = home.init("--agent", "codex", "--force", "--no-turn")
        equal(status, 0, "with --force init overwrites the file")
        equal((home.conf.with_suffix(".conf.old").read_text(), HELLO in out), (before, False),
              "the old file is kept, and --no-turn runs no turn")
        ok("claude :" not in home.conf.read_text(), "--agent configures one agent only")
        (home.path / "fails").touch()
        status, out, err = home.init("--force", "-a", "claude")
        equal(status, 1, "a turn that fails: status 1")
        ok("the first turn failed; run claude and type /login" in err, "the output says how to log in", err)
        ok(home.conf.exists() and "Next, run: " in out, "the configuration is kept after a failed turn", out)
    with Home("claude") as home:
        status, _, err = home.init("-c", "/proc/none/turncast.conf")
        ok(status == 2 and "cannot create the directory" in err, "a directory that cannot be written to", err)
        status, _, err = home.init("--agent", "cluade")
        ok(status == 2 and "unknown agent" in err, "an unknown agent is refused", err)
        status, _, err = home.init("--language", "fr")
        ok(status == 2 and '--language: invalid value "fr"; valid values: en, de' in err, "an unknown language is refused", err)
        status, _, err = home.init("--allow", "1")
        ok(status == 2 and "--allow requires --connector" in err, "--allow without a connector is refused", err)
        home.folder.mkdir(parents=True, mode=0o700)
        (home.folder / "conf.d").mkdir(mode=0o700)
        (home.folder / "conf.d" / "a.conf").write_text('default_agent = "codex";\n')
        (home.folder / "conf.d" / "a.conf").chmod(0o600)
        status, out, err = home.init()
        ok(status == 2 and "already set" in out, "a configuration that check refuses is not kept", out)
        equal(home.files(), ["conf.d"], "nothing is written")


def connectors():
    with Home("claude") as home, Fake("telegram") as fake:
        base = f"api_base={fake.url}"
        status, _, err = home.init("--connector", "telegram", "--set", base)
        ok(status == 2 and 'missing required option "token"' in err and "TELEGRAM_TOKEN" in err,
           "a missing required option is refused", err)
        status, _, err = home.init("--connector", "telegram", "--set", f"token={TELEGRAM_TOKEN}")
        ok(status == 2 and "other users can read a command line" in err, "a secret as an argument is refused", err)
        ok(TELEGRAM_TOKEN not in err, "the error does not repeat the secret")
        status, _, err = home.init("--connector", "jsonl")
        ok(status == 2 and "connectors for services: discord, " in err and ", telegram" in err, "an unknown connector is refused", err)
        status, out, _ = home.init("--connector", "telegram", "--set", base, TELEGRAM_TOKEN="1:wrong-token")
        equal(status, 1, "a token that the service refuses: status 1")
        ok("does not accept token (Unauthorized)" in out and "1:wrong-token" not in out, "the output has the reason", out)
        equal(home.files(), [], "no file is left")
        status, out, _ = home.init("--connector", "telegram", "--set", base, "--no-turn",
                                   TELEGRAM_TOKEN=TELEGRAM_TOKEN)
        equal(status, 0, "telegram: the token from an environment variable")
        ok("accepts the credentials (account fake_bot)" in out and "Next, run: turncast serve\n" in out,
           "telegram: the token is verified", out)
        text = home.conf.read_text()
        ok('token = "env:TELEGRAM_TOKEN";' in text and TELEGRAM_TOKEN not in text, "telegram: the configuration refers to the variable", text)
        ok("pairing = true;" in text and "allow = ();" in text, "telegram: pairing is on", text)
        checked = home.run("check", TELEGRAM_TOKEN=TELEGRAM_TOKEN)
        equal(checked[:2], (0, f"{home.conf}: OK (1 agent, 2 instances)\n"), "telegram: check accepts the configuration")
    with Home("claude") as home, Fake("slack") as fake:
        for name, secret in zip(("bot", "app"), SLACK_TOKENS):
            (home.path / name).write_text(secret + "\n")
            (home.path / name).chmod(0o600)
        options = ["--connector", "slack", "--no-turn", "--set", f"api_base={fake.url}/api/",
                   "--set", f"bot_token=file:{home.path}/bot"]
        status, out, err = home.init(*options, "--set", f"app_token=file:{home.path}/app",
                                     "--allow", "U1,U2", "--set", 'channel=C"1', "--language", "de")
        equal(status, 0, "slack: the tokens from files")
        text = home.conf.read_text()
        ok(f'bot_token = "file:{home.path}/bot";' in text and 'allow = ("U1", "U2");' in text
           and 'channel = "C\\"1";' in text, "options, people", text + err)
        ok("pairing" not in text, "slack: listed users need no pairing")
        equal(text.count('language = "de";'), 2, "the language is set for the terminal and for the connector")
    with Home("claude") as home, Fake("discord") as fake:
        options = ["--connector", "discord", "--no-turn", "--set", f"api_base={fake.url}/api/v10"]
        status, out, err = home.init(*options)
        ok(status > 0 and "set one of token, webhook" in out, "discord: neither a bot nor a webhook", out + err)
        status, out, err = home.init(*options, "--allow", "100000000000000001", DISCORD_TOKEN=DISCORD_TOKEN)
        ok(status == 0 and "accepts the credentials (account fake_bot)" in out, "discord: a bot", out + err)
        ok('token = "env:DISCORD_TOKEN";' in home.conf.read_text(), "discord: the configuration refers to the variable")
    with Home("claude") as home:
        (home.path / "hook").write_text("https://discord.com/api/webhooks/1/a-webhook-token\n")
        (home.path / "hook").chmod(0o600)
        status, out, err = home.init("--connector", "discord", "--no-turn", "--set", "channel=1",
                                     "--set", f"webhook=file:{home.path}/hook")
        ok(status == 0 and "credentials" not in out, "discord: a webhook has no account to verify", out + err)


# connector: options, what the instance gets, and whether the HTTP server is set up. 127.0.0.1:9 is
# not there, which is no error.
WRITTEN = (
    ("teams", {"webhook": "file:hook"}, None, False),
    ("teams", {"app_id": "1", "tenant": "t", "app_password": "file:key", "login_url": "http://127.0.0.1:9"},
     '"submit", "cancel", "answer"', True),
    ("webhook", {"url": "file:hook", "secret": "file:key"}, None, False),
    ("webhook", {"receive": "true", "secret": "file:key"}, '"submit", "cancel", "answer"', True),
    ("email", {"server": "smtp://127.0.0.1:9", "from": "a@b.de", "to": "c@d.de"}, None, False),
    ("otlp", {"endpoint": "http://127.0.0.1:9"}, None, False),
    ("ntfy", {"topic": "file:key", "server": "http://127.0.0.1:9"}, None, False),
    ("ntfy", {"topic": "file:key", "server": "http://127.0.0.1:9", "answers": "file:hook"}, '"answer"', False),
)


def grants():
    """The grants of a connector follow from its options."""
    with Home("claude") as home:
        for name, text in (("hook", "http://127.0.0.1:9/hook\n"),
                           ("key", "whsec_ZmFrZS13ZWJob29rLXNlY3JldC1vZi0zMi1ieXRlcyE=\n")):
            (home.path / name).write_text(text)
            (home.path / name).chmod(0o600)
        for connector, options, wanted, serves in WRITTEN:
            words = [f"{key}={value.replace('file:', f'file:{home.path}/')}" for key, value in options.items()]
            status, out, err = home.init("--force", "--connector", connector, "--no-turn",
                                         *(part for word in words for part in ("--set", word)))
            what = f"{connector} with {', '.join(options)}"
            text = home.conf.read_text() if status == 0 else ""
            equal(status, 0, f"{what}: status 0")
            found = [line.strip() for line in text.splitlines() if "grants" in line]
            equal(found, [f"grants = [{wanted}];"] if wanted else [], f"{what}: the grants")
            equal(("allow = ();" in text, "pairing" in text), (bool(wanted), '"submit"' in (wanted or "")),
                  f"{what}: users are listed only if they have a grant")
            equal("http : {" in text, serves, f"{what}: the HTTP server is configured if needed")
            equal(home.run("check")[0], 0, f"{what}: check accepts it")
        status, _, err = home.init("--force", "--connector", "teams", "--set", "app_id=1")
        ok(status == 2 and 'missing required option "app_password"' in err and "TEAMS_APP_PASSWORD" in err,
           "an option that another option requires", err)
        status, _, err = home.init("--force", "--connector", "otlp", "--set", "endpoint=http://127.0.0.1:9",
                                   "--allow", "ann")
        ok(status == 2 and "nobody writes to this connector" in err, "--allow for a connector without users", err)


def on_a_terminal():
    with Home("claude", "codex") as home, Fake("telegram") as fake:
        term = Terminal(home, "--set", f"api_base={fake.url}", "--connector", "telegram")
        term.answer("Agent that answers [claude]: ", "cluade")
        term.answer("Agent that answers [claude]: ", "codex")
        term.answer("token: bot token from @BotFather: ", "")
        term.answer("token: bot token from @BotFather: ", TELEGRAM_TOKEN)
        term.answer("IDs of the people", "12, -3 @ann")
        term.answer("Run a first turn with codex now? [Y/n]: ", "n")
        equal(term.end(), 0, "terminal: status 0")
        ok(TELEGRAM_TOKEN not in term.seen, "terminal: the token is not shown", term.seen)
        equal((home.files(), home.private()), (["telegram.token", "turncast.conf"], True),
              "terminal: the token is in its own file")
        equal((home.folder / "telegram.token").read_text(), TELEGRAM_TOKEN + "\n", "terminal: the file has the token")
        text = home.conf.read_text()
        ok(f'token = "file:{home.folder}/telegram.token";' in text and 'allow = (12, -3, "@ann");' in text
           and 'default_agent = "codex";' in text, "terminal: the configuration", text)
        equal(home.run("check")[0], 0, "terminal: check accepts it")
    with Home("claude") as home, Fake("matrix") as fake:
        term = Terminal(home)
        term.answer("; Enter for none): ", "telegran")
        term.answer("; Enter for none): ", "matrix")
        term.answer("homeserver: base URL of the homeserver: ", fake.url)
        term.answer("token: ", "not-the-token")
        term.answer("user: ", "@bot:fake")
        term.answer("IDs of the people", "")
        term.answer("homeserver: base URL of the homeserver: ", fake.url)
        ok("does not accept" in term.seen, "terminal: a refused token is asked for again", term.seen)
        term.answer("token: ", "\x03")
        equal(term.end(), -signal.SIGINT, "terminal: Ctrl-C ends it")
        equal(home.files(), [], "terminal: no file is written")
    with Home("claude") as home:
        term = Terminal(home)
        term.answer("Enter for none): ", "")
        term.answer("Run a first turn with claude now? [Y/n]: ", "")
        equal(term.end(), 0, "terminal: status 0 without a connector")
        ok(HELLO in term.seen, "terminal: init runs a first turn", term.seen)
    with Home("claude") as home:
        term = Terminal(home, "--yes")
        equal(term.end(), 0, "terminal: --yes asks no question")


without_a_terminal()
connectors()
grants()
on_a_terminal()
done()
