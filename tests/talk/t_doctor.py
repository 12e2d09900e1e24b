# SPDX-License-Identifier: MIT
"""turncast doctor asks the services whether they accept the tokens of the configuration."""
import http.server
import json
import os
import pathlib
import socket
import socketserver
import subprocess
import tempfile
import threading

from talk import BUILD, NTFY_SECRETS, SLACK_TOKENS, TEAMS_SECRETS, TELEGRAM_TOKEN, WEBHOOK_SECRETS, Host, done, equal, listening, ok, teams
from drive import Fake

folder = pathlib.Path(tempfile.mkdtemp(prefix="turncast-doctor."))
CONF = folder / "turncast.conf"
GOOD = {"telegram": TELEGRAM_TOKEN, "slack": SLACK_TOKENS[0]}
OPTION = {"telegram": "token", "slack": "bot_token"}
BAD = "123456:another-token-of-this-test"


def doctor_of(name, options, more="", arguments=()):
    """Status and output of turncast doctor for one instance."""
    CONF.write_text(
        f"""plugins : {{ instances : {{
  talk : {{ plugin = "{name}"; {options} }};
}}; }};
{more}"""
    )
    CONF.chmod(0o600)
    env = {**os.environ, "XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    command = [str(BUILD / "turncast"), "doctor", "-c", str(CONF), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120)
    return ended.returncode, ended.stdout + ended.stderr


def doctor(name, token, api_base, *arguments):
    """Checks a chat connector, whose token is in line 3."""
    options = f'api_base = "{api_base}";\n    {OPTION[name]} = "{token}";'
    status, output = doctor_of(name, options, arguments=arguments)
    ok(token not in output, f"{name}: the token is not shown")
    return status, output


def told(output):
    """The output about the instance, after the line of its plugin."""
    lines = output.splitlines()
    at = [n for n, line in enumerate(lines) if line[6:].startswith("instance talk: ")]
    return "\n".join(line for n in at[1:] for line in lines[n : n + 2] if n == at[-1])


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def check(name, path, account, reason):
    with Fake(name) as fake:
        host = f"127.0.0.1:{fake.port}"
        status, output = doctor(name, GOOD[name], fake.url + path)
        equal(status, 0, f"{name}: a valid token is no error")
        ok(
            f"ok    instance talk: {host} accepts the credentials (account {account})" in output,
            f"{name}: it is accepted, and the account is told",
            output,
        )
        status, output = doctor(name, BAD, fake.url + path)
        equal(status, 1, f"{name}: another token is an error")
        equal(
            told(output),
            f"FAIL  instance talk: {CONF}:3: plugins.instances.talk.{OPTION[name]}: {host} does not"
            f" accept {OPTION[name]} ({reason})\n      -> set a valid {OPTION[name]}",
            f"{name}: with its line, the service's reason, and what to do",
        )
        status, output = doctor(name, BAD, fake.url + path, "--json")
        found = [f for f in json.loads(output)["findings"] if f["level"] == "error"]
        equal(
            found,
            [
                {
                    "level": "error",
                    "file": str(CONF),
                    "line": 3,
                    "key": f"plugins.instances.talk.{OPTION[name]}",
                    "text": f"{host} does not accept {OPTION[name]} ({reason})",
                    "remedy": f"set a valid {OPTION[name]}",
                }
            ],
            f"{name}: the same as JSON",
        )
        method = "getMe" if name == "telegram" else "auth.test"
        fake.control("fault", {"do": "html", "match": {"method": method}, "times": 9})
        status, output = doctor(name, GOOD[name], fake.url + path)
        equal(status, 0, f"{name}: an invalid response is no error")
        ok(told(output).startswith(f"warn  instance talk: {host} answers with status "),
           f"{name}: an invalid response is a warning", output)
    port = closed_port()
    status, output = doctor(name, GOOD[name], f"http://127.0.0.1:{port}{path}")
    equal(status, 0, f"{name}: a service that cannot be reached is no error")
    ok(told(output).startswith(f"warn  instance talk: cannot reach 127.0.0.1:{port}: "),
       f"{name}: an unreachable service is a warning that names the host", output)
    status, output = doctor(name, GOOD[name], "http://192.0.2.1" + path)
    equal(status, 1, f"{name}: plain http: to another machine is an error")
    ok(told(output).startswith("FAIL  instance talk: cannot ask 192.0.2.1: "),
       f"{name}: the error of plain http names the host", output)


class Pair(http.server.BaseHTTPRequestHandler):
    """A server that answers when two requests have arrived."""

    both = threading.Barrier(2, timeout=60)

    def do_GET(self):
        try:
            Pair.both.wait()
            answer = b'{"ok":true,"result":{"username":"both"}}'
        except threading.BrokenBarrierError:
            answer = b'{"ok":false,"description":"alone"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def at_once():
    """Two services that answer only when both have been asked."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pair) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        more = f'{url}"; token = "1:b"; }};\n  more : {{ plugin = "telegram"; api_base = "{url}'
        status, output = doctor("telegram", GOOD["telegram"], more)
        equal(output.count("accepts the credentials (account both)"), 2, "services are asked in parallel")
        server.shutdown()


def by_form():
    """The secret of Teams is sent in a form; an instance with a webhook only has no secret."""
    webhook = 'hook : { plugin = "teams"; webhook = "https://127.0.0.1:1/x?sig=canary-1"; };'
    with Fake("teams") as fake:
        extra = listening(fake)
        for secret, wanted in ((TEAMS_SECRETS[0], "ok    instance tm: 127.0.0.1:"), ("canary-2~x", "FAIL  instance tm: ")):
            host = Host(webhook + teams(fake, allow=[], app_password=secret), extra=extra)
            output = host.run("doctor")[1]
            ok(wanted in output, f"teams: {wanted.split()[0]}", output)
            ok("app_password (AADSTS7000215" in output or wanted.startswith("ok"), "the output has the reason", output)
            ok("cannot ask" not in output and secret not in output, "a webhook is not asked", output)
            host.close()


def address():
    """An endpoint without credentials: doctor checks whether a server answers."""
    with Fake("webhook") as fake:
        host = f"127.0.0.1:{fake.port}"
        url = f'{fake.url}/hook"; secret = "{WEBHOOK_SECRETS[0]}'
        status, output = doctor_of("webhook", f'url = "{url}";')
        ok(f"ok    instance talk: {host} answers (status 405)" in output and status == 0,
           "webhook: any response is ok", output)
        for code in (302, 404, 410, 503):
            fake.control("fault", {"do": "answer", "status": code, "match": {"method": "get"}})
            status, output = doctor_of("webhook", f'url = "{url}";')
            ok(f"warn  instance talk: {host} answers with status {code}" in output,
               f"webhook: status {code} is a warning", output)
    receiver = f'receive = true; secret = "{WEBHOOK_SECRETS[0]}"; '
    _, output = doctor_of("webhook", receiver, 'http : { listen = "127.0.0.1:0"; };')
    ok(output.count("instance talk") == 1, "webhook: without a URL no request is sent", output)


def two_ways():
    """A server with an access token, or a user and a password."""
    with Fake("ntfy") as fake:
        host, server = f"127.0.0.1:{fake.port}", f'server = "{fake.url}/"; topic = "fake-topic-a8b7c6"; '
        for options, wanted in (
            (f'token = "{NTFY_SECRETS[0]}";', f"ok    instance talk: {host} accepts the credentials (account bot)"),
            (f'user = "bot"; password = "{NTFY_SECRETS[2]}";', f"{host} accepts the credentials (account bot)"),
            ('token = "tk_canary";', f"{host} does not accept token (unauthorized)"),
            ('user = "bot"; password = "canary-password";', f"{host} does not accept password (unauthorized)"),
        ):
            _, output = doctor_of("ntfy", server + options)
            ok(wanted in output and "canary" not in output, f"ntfy: {wanted.split(' ', 2)[-1]}", output)
        _, output = doctor_of("ntfy", server)
        ok(f"{host} accepts requests without credentials" in output, "ntfy: a server that needs no login accepts requests without credentials", output)
        fake.control("fault", {"do": "answer", "status": 401, "match": {"method": "account"}})
        status, output = doctor_of("ntfy", server)
        equal(told(output).partition(": plugins.")[2],
              f"instances.talk.token: {host} does not accept requests without credentials (status 401)\n      -> set token",
              "ntfy: a server that needs a login refuses requests without credentials")
        equal(status, 1, "ntfy: a missing login is an error")


def mail():
    """A mail server that needs a login, and one that needs none."""
    for code, wanted in ((250, "ok    instance talk: {} accepts requests without credentials"),
                         (530, "{} does not accept requests without credentials (")):
        with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Smtp) as server:
            server.code = code
            threading.Thread(target=server.serve_forever, daemon=True).start()
            host = f"127.0.0.1:{server.server_address[1]}"
            options = f'server = "smtp://{host}"; from = "a@example.org"; to = ["b@example.org"];'
            _, output = doctor_of("email", options)
            ok(wanted.format(host) in output, f"email: status {code} of a server without a login", output)
            ok((code == 250) != ("-> set password" in output), "email: the output names the missing option", output)
            server.shutdown()


class Smtp(socketserver.StreamRequestHandler):
    """Sends a greeting, and answers everything except QUIT and EHLO with the given status."""

    def handle(self):
        self.wfile.write(b"220 fake\r\n")
        for line in self.rfile:
            verb = line.split()[0].upper() if line.split() else b""
            code = {b"EHLO": 250, b"QUIT": 221}.get(verb, self.server.code)
            self.wfile.write(f"{code} fake\r\n".encode())
            if verb == b"QUIT":
                return


at_once()
by_form()
address()
two_ways()
mail()
check("telegram", "", "fake_bot", "Unauthorized")
check("slack", "/api/", "fake_bot", "invalid_auth")
done()
