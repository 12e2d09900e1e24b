# SPDX-License-Identifier: MIT
"""Several files make one configuration: @include, and conf.d beside turncast.conf."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["TURNCAST_SRCDIR"])
BUILD = pathlib.Path(os.environ["TURNCAST_BUILDDIR"])
sys.path.insert(0, str(SOURCE / "tests" / "tap"))
from tap import done, equal, ok  # noqa: E402

AGENT = 'agents : {{ {0} : {{ command = ["sh"]; }}; }};\n'


def check(path, cwd=None):
    run = subprocess.run([str(BUILD / "turncast"), "check", str(path)], capture_output=True,
                         text=True, timeout=120, cwd=cwd)
    return run.returncode, run.stdout.strip()


def put(path, text):
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return path


def good(path, agents, instances=1):
    plural = "" if agents == 1 else "s"
    more = "" if instances == 1 else "s"
    return 0, f"{path}: OK ({agents} agent{plural}, {instances} instance{more})"


def including(folder):
    file = put(folder / "main.conf", '@include "parts/one.conf"  # the first\nlog : { };\n')
    put(folder / "parts" / "one.conf", 'agents : { @include "agents.list" };')
    put(folder / "parts" / "agents.list", 'a : { command = ["sh"]; };\nb : { command = ["sh"]; }; # x')
    equal(check(file), good(file, 2), "a file includes others, relative to itself")
    equal(check("main.conf", folder), good("main.conf", 2), "a name without a folder")
    put(file, f'@include "{folder}/parts/one.conf"')
    equal(check(file), good(file, 2), "an absolute name")
    put(file, 'state_directory = "@include";\n# @include "no"\n/* @include "no" */')
    equal(check(file), good(file, 0), "no directive in a string or a comment")


def limits(folder):
    for i in range(12):
        put(folder / f"{i}.conf", f'@include "{i + 1}.conf"\n')
    put(folder / "9.conf", "log : { };")
    equal(check(folder / "0.conf"), good(folder / "0.conf", 0), "ten files deep")
    put(folder / "9.conf", '@include "10.conf"')
    put(folder / "10.conf", "log : { };")
    equal(check(folder / "0.conf"),
          (2, f"{folder}/9.conf:1: @include: {folder}/10.conf: files are included too deeply "
              "(limit: 10); include it in another file"), "eleven files deep")
    put(folder / "empty.conf", "")
    put(folder / "0.conf", '@include "empty.conf"\n' * 99)
    equal(check(folder / "0.conf"), good(folder / "0.conf", 0), "a hundred files")
    put(folder / "0.conf", '@include "empty.conf"\n' * 100)
    equal(check(folder / "0.conf"),
          (2, f"{folder}/0.conf:100: @include: {folder}/empty.conf: too many files are included "
              "(limit: 100); join some"), "one more")
    put(folder / "large.conf", "#" * 700000)
    put(folder / "0.conf", '@include "large.conf"\n')
    equal(check(folder / "0.conf")[0], 0, "a large file")
    put(folder / "0.conf", '@include "large.conf"\n' * 2)
    equal(check(folder / "0.conf"),
          (2, f"{folder}/0.conf:2: @include: {folder}/large.conf: file is too large "
              "(limit: 1048576 bytes); make it shorter"), "the limit is for all together")


def folder_of_files(folder):
    file = put(folder / "turncast.conf", AGENT.format("a"))
    put(folder / "conf.d" / "10.conf", AGENT.format("b") + "log : { level = \"info\"; };")
    put(folder / "conf.d" / "20.conf", 'default_agent = "b";\nlog : { format = "json"; };\n'
        'agents : { a : { cwd = "."; }; };\nplugins : { instances : { audit : '
        '{ path = "audit.jsonl"; }; }; };')
    put(folder / "conf.d" / "30.conf~", "wrong")
    put(folder / "conf.d" / ".#20.conf", "wrong")
    put(folder / "conf.d" / ".conf", "wrong")
    equal(check(file), good(file, 2), "groups of all files in conf.d are merged")
    equal(check("turncast.conf", folder), good("turncast.conf", 2), "without a folder in the name")
    other = put(folder / "other.conf", AGENT.format("c"))
    equal(check(other), good(other, 1), "not beside a file of another name")
    os.rename(folder / "conf.d" / "20.conf", folder / "late")
    os.symlink(folder / "late", folder / "conf.d" / "40.conf")
    equal(check(file), good(file, 2), "a symbolic link")
    put(folder / "conf.d" / "05.conf", "plugins : { autoload = 1; };")
    put(folder / "conf.d" / "50.conf", "plugins : { autoload = 1; };")
    said = check(file)[1].splitlines()
    ok(f"{folder}/conf.d/50.conf:1: plugins.autoload: already set at {folder}/conf.d/05.conf:1; "
       "remove one of them" in said, "they are read in the order of their names", said)


def secrets(folder):
    file = put(folder / "turncast.conf", AGENT.format("a"))
    chat = put(folder / "conf.d" / "chat.conf", 'plugins : { instances : { telegram : '
               '{ token = "1234567:abcdefghijklmn"; api_base = "http://127.0.0.1:9"; }; }; };')
    chat.chmod(0o644)
    run = subprocess.run([str(BUILD / "turncast"), "doctor", "--json", "-c", str(file)],
                         capture_output=True, text=True, timeout=120,
                         env={**os.environ, "XDG_STATE_HOME": str(folder)})
    told = [f for f in json.loads(run.stdout)["findings"] if "other users" in f["text"]]
    ok(told and f"chmod 600 {chat}" in told[0]["remedy"],
       "doctor names the file in which others can read a secret", run.stdout)
    ok("abcdefghijklmn" not in run.stdout + run.stderr, "and not the secret")


def relative_paths(folder):
    (folder / "logs").mkdir()
    file = put(folder / "turncast.conf", AGENT.format("a") +
               'plugins : { instances : { audit : { path = "logs/audit.jsonl"; }; }; };')
    equal(check(file, "/"), good(file, 1), "an option that is a path is relative to the configuration file")
    (folder / "logs").rmdir()
    status, said = check(file, "/")
    equal((status, f'directory "{folder}/logs": No such file' in said), (2, True), "and is told as a whole")
    run = subprocess.run([str(BUILD / "turncast"), "replay", "-p", "audit,path=audit.jsonl",
                          str(SOURCE / "examples" / "recording.jsonl")], cwd=folder, timeout=120)
    equal((run.returncode, (folder / "audit.jsonl").exists()), (0, True),
          "on the command line, it is relative to the working directory")


def relative_secrets(folder):
    """The working directory has no such file."""
    put(folder / "token", "1234567:abcdefghijklmn\n")
    put(folder / "password", "ann:abcdefghijklmn\n")
    file = put(folder / "turncast.conf", AGENT.format("a") + 'proxy : { url = "http://127.0.0.1:9"; '
               'credentials = "file:password"; };\nstore : { kind = "redis"; redis : '
               '{ address = "127.0.0.1:9"; password = "file:password"; }; };')
    put(folder / "conf.d" / "chat.conf", 'plugins : { instances : { telegram : { token = "file:token"; '
        'allow = (1); grants = ["submit"]; }; }; };')
    status, out = check(file, "/")
    equal((status, out.splitlines()[0]), good(file, 1), "file: with a path relative to the configuration file")
    (folder / "token").unlink()
    status, said = check(file, "/")
    equal((status, f"cannot open secret file {folder}/token: No such file" in said), (2, True),
          "the whole path of a file that is missing")


for test in (including, limits, folder_of_files, secrets, relative_paths, relative_secrets):
    with tempfile.TemporaryDirectory(prefix="turncast-files.") as scratch:
        test(pathlib.Path(scratch).resolve())
done()
