# SPDX-License-Identifier: MIT
"""The connectors of examples/, each as its first lines say: built, dropped into a directory, enabled
in a configuration, and called with real turns of `turncast serve`.

What is missing on this machine is skipped, with its name; tools/deps test installs all of it."""
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from door import BUILD, Door, done, equal, ok, until, written  # noqa: E402
from talk import SANITIZED, SOURCE  # noqa: E402

EXAMPLES = SOURCE / "examples"
SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="turncast-examples."))
PLUGINS = SCRATCH / "plugins"
ASKER = f'asks : {{ command = ["{BUILD}/tests/fake/asker"]; }};'
# As their authors have them: the compilers and interpreters of the system.
PATH = "/usr/local/bin:/usr/bin:/bin"


def head(name):
    """The comment that a file begins with, without its marks."""
    text = re.match(r"(?:(?:#|//|/\*|\s\*|\"\"\"|[A-Z ]).*\n|\n)*", (EXAMPLES / name).read_text())
    return [re.sub(r"^(#!?|//|/\*| \*| +)\s*", "", line) for line in text.group(0).splitlines()]


def building(name):
    return next(line.split("Build: ", 1)[1] for line in head(name) if "Build: " in line)


def instance(name):
    """As the file says it."""
    text = " ".join(head(name)).split("Instance: ", 1)[1]
    return text[: text.index("};") + 2]


def lacks(*programs):
    """Whether one of them is missing, which is said."""
    missing = [p for p in programs if not shutil.which(p, path=PATH)]
    if missing:
        ok(True, f"{missing[0]} is not installed # SKIP tools/deps test installs it")
    return bool(missing)


def type_command(command, place):
    environment = {"PATH": f"{SCRATCH}/bin:{PATH}", "HOME": str(SCRATCH), "GOFLAGS": "-buildvcs=false"}
    run = subprocess.run(["sh", "-ec", command], cwd=place, env=environment, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    equal((run.returncode, run.stdout), (0, ""), command)
    return run.returncode


def build(source, folder=""):
    """Builds a shared object by the command of its file, and drops it into the directory."""
    place = SCRATCH / pathlib.Path(source).stem
    place.mkdir(exist_ok=True)
    for file in (EXAMPLES / folder).iterdir() if folder else [EXAMPLES / source]:
        shutil.copy(file, place)
    command = building(source)
    status = type_command(command, place)
    for built in place.glob("*.so"):
        shutil.copy(built, PLUGINS)
    return status == 0


def hosted(text, *programs, agents=""):
    """A host with that instance; programs lie beside the configuration."""
    host = Door(instances=text + " ", agents=agents)
    for name in programs:
        shutil.copy(EXAMPLES / name, host.folder)
    return host


def file_of(host, name, file):
    """The lines of a file in the directory of an instance."""
    for path in host.state.rglob(file):
        if path.parent.name == name:
            return written(path)
    return []


def never_restarted(host, name):
    bad = [line for line in host.log().splitlines() if f"instance {name}" in line
           and ("restart" in line or "exited" in line or "Landlock" in line)]
    equal(bad, [], f"{name} was never restarted")
    equal(host.stop(), 0, "the host ends")


class Taker(http.server.BaseHTTPRequestHandler):
    """Takes what is posted; refuses the first."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.posts.append((self.headers.get("Authorization"), body))
        self.send_response(503 if len(self.server.posts) == 1 else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Service:
    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Taker)
        self.posts = self.server.posts = []
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


# --- shared objects --------------------------------------------------------------------------


def c_builds(name):
    command = f"cc -shared -fPIC $(pkg-config --cflags turncast) {name} -o {name[:-2]}.so"
    place = SCRATCH / "c"
    place.mkdir(exist_ok=True)
    shutil.copy(EXAMPLES / name, place)
    type_command(command, place)
    shutil.copy(place / f"{name[:-2]}.so", PLUGINS)


def test_c_hello():
    c_builds("hello.c")
    with hosted('hello : { greeting = "So"; };') as host:
        host.begin("id=c1")
        until(lambda: re.search(r"hello.*So: ", host.log()), "hello prints the answer")
        never_restarted(host, "hello")


def test_c_poster():
    c_builds("poster.c")
    with Service() as service:
        url = f"http://127.0.0.1:{service.port}/"
        text = f'poster : {{ url = "{url}"; token = "tok-0123456789"; }};'
        with hosted(text) as host:
            turn = host.begin("id=c2")["id"]
            until(lambda: len(service.posts) > 1, "poster posts until it is taken")
            ok(all(turn in body and '"final"' in body for _, body in service.posts), "the answer")
            equal(service.posts[1][0], "Bearer tok-0123456789", "with its token")
            never_restarted(host, "poster")


def test_cxx():
    if lacks("g++") or not build("tally.cc"):
        return
    with hosted(instance("tally.cc")) as host:
        host.await_state(host.begin("id=x1 tools=3")["id"], "final")
        host.begin("id=x2")
        until(lambda: len(file_of(host, "tally", "tally")) == 2, "tally has written")
        first, second = sorted(file_of(host, "tally", "tally"), key=len, reverse=True)
        ok(re.fullmatch(r"main completed( \w+=\d)+", first), "tools are counted", first)
        equal(sum(map(int, re.findall(r"=(\d)", first))), 3, "each call")
        equal(second, "main completed", "a turn without tools")
        never_restarted(host, "tally")


def test_rust():
    if lacks("rustc") or not build("slow.rs"):
        return
    text = instance("slow.rs").replace("60.0", "0.25")
    with hosted(text) as host:
        host.await_state(host.begin("id=r1")["id"], "final")
        host.begin("id=r2 tools=1 ms=400")
        until(lambda: file_of(host, "slow", "slow"), "slow has written")
        never_restarted(host, "slow")
        lines = file_of(host, "slow", "slow")
        ok(all(re.fullmatch(r"main completed \d+\.\d s", line) for line in lines), "its time",
           lines)


def costs_of(host):
    return json.loads((file_of(host, "costs", "costs") or ["{}"])[0]).get("main", 0)


def test_go():
    if lacks("go", "gcc", "pkg-config") or not build("costs/costs.go", "costs"):
        return
    with hosted(instance("costs/costs.go")) as host:
        for i in range(3):
            host.await_state(host.begin(f"id=g{i}")["id"], "final")
        until(lambda: costs_of(host) > 0.037, "costs has added up")
        equal(round(costs_of(host), 6), 0.0375, "costs of all turns")
        never_restarted(host, "costs")


# --- programs --------------------------------------------------------------------------------


def test_shell():
    if lacks("jq", "curl"):
        return
    lines = (EXAMPLES / "post.sh").read_text().count("\n")
    ok(lines <= 15, f"post.sh has at most 15 lines ({lines})")
    with Service() as service:
        os.environ["URL"] = f"http://127.0.0.1:{service.port}/"
        with hosted(instance("post.sh").replace("443", str(service.port)), "post.sh") as host:
            host.begin("id=s1")
            until(lambda: len(service.posts) > 1, "post.sh posts until it is taken")
            equal(service.posts[1][1], service.posts[0][1], "the same answer")
            ok("s1" in service.posts[1][1], "which is that of the agent", service.posts)
            never_restarted(host, "post")


def test_python():
    """An approval is answered by the program; another one waits for a person."""
    if lacks("python3"):
        return
    lines = (EXAMPLES / "approver.py").read_text().count("\n")
    ok(lines <= 25, f"approver.py has at most 25 lines ({lines})")
    with hosted(instance("approver.py"), "approver.py", agents=ASKER) as host:
        until(host.has_started, "it runs")
        host.begin("run=ls -l /srv", agent="asks")
        until(lambda: file_of(host, "bot", "answers"), "approver.py allows what only looks")
        ok("allow" in "".join(file_of(host, "bot", "answers")), "the agent was told so",
           file_of(host, "bot", "answers"))
        for command in ("rm -r /srv", "ls; rm -r /srv", "ls $(rm -r /srv)"):
            before = len(file_of(host, "bot", "answers"))
            turn = host.begin(f"run={command}", agent="asks")["id"]
            until(lambda: turn in host.run("answer", "--json")[1], f"{command} waits for a person")
            equal(host.run("answer", "--turn", turn, "deny")[0], 0, "who denies it")
            until(lambda n=before: len(file_of(host, "bot", "answers")) > n, "the turn ends")
        never_restarted(host, "bot")


def test_node():
    """Questions come by HTTP, answers are had there."""
    if lacks("node"):
        return
    os.environ["DESK_TOKEN"] = "desk-0123456789"
    with hosted(instance("desk.mjs"), "desk.mjs") as host:
        until(host.has_started, "it runs")
        allowed = {"Authorization": "Bearer desk-0123456789"}
        status, _, turn = host.ask("POST", "/hooks/desk/ask", body=b"id=n1", **allowed)
        equal(status, 202, "desk.mjs takes a question")
        until(lambda: host.ask("GET", "/hooks/desk/answers", **allowed)[2], "it has the answer")
        text = host.ask("GET", "/hooks/desk/answers", **allowed)[2]
        ok(turn.strip() in text and b"n1" in text, "of that turn", text)
        equal(host.status("GET", "/hooks/desk/answers"), 401, "only with the token")
        never_restarted(host, "desk")
        host.start()
        until(host.has_started, "it runs again")
        status, _, second = host.ask("POST", "/hooks/desk/ask", body=b"id=n2", **allowed)
        ok(status == 202 and second != turn, "the first question after that is another one", second)
        until(lambda: b"n2" in host.ask("GET", "/hooks/desk/answers", **allowed)[2], "answered, too")
        equal(host.stop(), 0, "the host ends again")


# --- all -------------------------------------------------------------------------------------


def set_up():
    """A pkg-config that knows the header of this tree, and the compiler of this build as cc."""
    (SCRATCH / "bin").mkdir()
    PLUGINS.mkdir()
    scripts = {"pkg-config": f'case "$*" in *--cflags*) echo "-I{SOURCE}/include" ;; esac',
               "cc": f'exec {os.environ.get("TURNCAST_CC", "cc")} "$@"'}
    for name, text in scripts.items():
        (SCRATCH / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (SCRATCH / "bin" / name).chmod(0o755)
    os.environ["TURNCAST_PLUGIN_PATH"] = f"{BUILD}/plugins/.libs:{PLUGINS}"
    os.environ["PATH"] = PATH


def main():
    if SANITIZED:
        print("1..0 # SKIP a sanitizer is not what users build with")
        return
    try:
        set_up()
        for test in (test_c_hello, test_c_poster, test_cxx, test_rust, test_go, test_shell,
                     test_python, test_node):
            test()
    finally:
        shutil.rmtree(SCRATCH, ignore_errors=True)
    done()


main()
