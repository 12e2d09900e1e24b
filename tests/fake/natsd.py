# SPDX-License-Identifier: MIT
"""Starts a nats-server for a test, on a free loopback port, with its own storage and with faults;
and a TCP connection to it that can be cut."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import nats_wire


def available():
    return shutil.which("nats-server") is not None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class NatsServer:
    def __init__(self, extra="", port=None, **environment):
        """extra: the configuration besides the address and the storage."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="turncast-nats."))
        self.port = port or free_port()
        self.extra = extra
        self.config = None  # the complete configuration instead of extra
        self.environment = dict(os.environ, **environment)
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self):
        return f"nats://127.0.0.1:{self.port}"

    def start(self):
        config = self.folder / "nats.conf"
        config.write_text(
            self.config or f'listen: "127.0.0.1:{self.port}"\n'
            f'jetstream {{ store_dir: "{self.folder}/store" }}\n{self.extra}\n'
        )
        log = open(self.folder / "log", "ab")  # noqa: SIM115
        self.process = subprocess.Popen(
            # The server also ends when the test is killed.
            ["setpriv", "--pdeathsig", "KILL", "nats-server", "-c", config],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment,
        )
        log.close()
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                time.sleep(0.02)

    def log(self):
        return (self.folder / "log").read_text()

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def forget(self):
        """Deletes all stored data."""
        shutil.rmtree(self.folder / "store", ignore_errors=True)

    def client(self, **more):
        return nats_wire.NatsWire(self.port, **more)

    def stored_turns(self, kind, prefix="tc"):
        """The ids of turns of which hosts with the prefix have stored a message of the kind (new,
        out, told)."""
        client = self.client()
        info = client.api(f"STREAM.INFO.{prefix.upper()}_TURN", {"subjects_filter": f"{prefix}.turn.{kind}.>"})
        client.close()
        return {subject.rsplit(".", 1)[1] for subject in info["state"].get("subjects") or {}}


class NatsCluster:
    """Servers that replicate each stream and bucket."""

    def __init__(self, count=3):
        routes = [free_port() for _ in range(count)]
        urls = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
        self.servers = [NatsServer(
            f'server_name: "s{i}"\ncluster {{ name: "test", listen: "127.0.0.1:{port}", routes: [{urls}] }}\n')
            for i, port in enumerate(routes)]  # fmt: skip

    def __enter__(self):
        for server in self.servers:
            server.start()
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.__exit__()

    def urls(self):
        return [server.url() for server in self.servers]

    def leader(self, stream):
        """Returns the server that leads a stream; None without a leader."""
        for server in self.servers:
            if not server.process:
                continue
            try:
                client = server.client()
                told = client.request(f"$JS.API.STREAM.INFO.{stream}", seconds=2)
                client.close()
            except OSError:
                continue
            name = told and told.json().get("cluster", {}).get("leader")
            if name:
                return self.servers[int(name[1:])]
        return None


class Cable:
    """Forwards TCP connections to a port of this machine until it is cut."""

    def __init__(self, port):
        self.target = port
        self.open = True
        self.refused = 0  # connections while it was cut
        self.trap = None
        self.sockets = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def url(self):
        return f"nats://127.0.0.1:{self.port}"

    def cut_at(self, words):
        """Cuts the connection when a client has sent these words."""
        self.trap = words

    def cut(self):
        self.open = False
        self.trap = None
        for sock in self.sockets:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.sockets.clear()

    def mend(self):
        self.open = True

    def _serve(self):
        while True:
            client, _ = self.listener.accept()
            try:
                if not self.open:
                    self.refused += 1
                    raise OSError
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            self.sockets += [client, server]
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(self, source, target):
        said = b""
        try:
            while data := source.recv(65536):
                target.sendall(data)
                said = said[-100:] + data
                if self.trap and self.trap in said:
                    self.cut()
        except OSError:
            pass
        for sock in (source, target):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
