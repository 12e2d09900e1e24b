# SPDX-License-Identifier: MIT
"""HTTP/1.1 on loopback for the fakes: requests, responses, and their faults."""

import json
import select
import socket
import struct
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler

MAX_BODY = 256 * 1024 * 1024


# Linux reports the time at which the kernel received the data of a connection.
SO_TIMESTAMPING, RX_SOFTWARE, SOFTWARE = 37, 1 << 3, 1 << 4


def arrival_of(connection):
    """Waits for a request, and returns the arrival of its first bytes by the monotonic clock: on
    loopback, the time when the client wrote them. The thread may read them later on a loaded
    machine."""
    try:
        _, told, _, _ = connection.recvmsg(1, 256, socket.MSG_PEEK)
    except OSError:
        told = []
    for level, kind, data in told:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPING):
            seconds, nanoseconds = struct.unpack_from("qq", data)
            return time.monotonic() - max(0.0, time.time() - seconds - nanoseconds / 1e9)
    return time.monotonic()


class Request:
    def __init__(self, handler, body):
        parts = urllib.parse.urlsplit(handler.path)
        self.verb = handler.command
        self.path = urllib.parse.unquote(parts.path)
        self.query = urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.body = body
        self.connection = handler.connection
        self.number = handler.number
        self.arrived = handler.arrived  # by the monotonic clock
        self.handler = handler

    def content_type(self):
        return self.headers.get("content-type", "").split(";")[0].strip().lower()

    def gone(self):
        """Whether the client has closed the connection, and no longer waits for a response."""
        try:
            readable, _, _ = select.select([self.connection], [], [], 0)
            return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
        except (OSError, ValueError):
            return True


class Answer:
    def __init__(self, status=200, body=b"", headers=None, content_type="application/json"):
        if isinstance(body, (dict, list)):
            body = json.dumps(body, ensure_ascii=False)
        self.status = status
        self.body = body.encode() if isinstance(body, str) else body
        self.headers = {"Content-Type": content_type, **(headers or {})}

    def shown(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class Silence(Exception):
    """No response: the connection is reset or closed."""

    def __init__(self, reset):
        super().__init__("reset" if reset else "close")
        self.reset = reset


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.number = self.server.number_of(self.connection)

    def log_message(self, format, *args):
        pass

    def handle_one_request(self):
        self.arrived = arrival_of(self.connection)
        super().handle_one_request()

    def _body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return self._chunks()
        length = int(self.headers.get("Content-Length", 0))
        if length > MAX_BODY:
            raise Silence(True)
        body = self.rfile.read(length)
        if len(body) < length:
            raise Silence(False)
        return body

    def _chunks(self):
        body = bytearray()
        while True:
            size = int(self.rfile.readline().split(b";")[0], 16)
            if len(body) + size > MAX_BODY:
                raise Silence(True)
            body += self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                return bytes(body)

    def render(self, answer):
        phrase = self.responses.get(answer.status, ("Other",))[0]
        head = [f"HTTP/1.1 {answer.status} {phrase}"]
        headers = {"Content-Length": str(len(answer.body)), **answer.headers}
        head += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join(head).encode() + b"\r\n\r\n" + answer.body

    def _check_cut(self):
        """A request that arrived or was executed while the connection was being cut is lost."""
        if self.server.is_cut(self.connection):
            raise Silence(True)

    def _one(self):
        try:
            request = Request(self, self._body())
            self._check_cut()
            answer = self.server.serve(request)
            self._check_cut()
            if answer is None:
                self.close_connection = True
            elif callable(answer):
                answer(self)
            else:
                self.wfile.write(self.render(answer))
        except Silence as silence:
            self.drop(silence.reset)
        except (OSError, ValueError):
            self.drop(False)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _one

    def drop(self, reset):
        self.close_connection = True
        drop_socket(self.connection, reset)


def drop_socket(connection, reset):
    """Closes a connection now, or (reset) with the next close."""
    try:
        if reset:
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        else:
            connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


class Listener:
    """One port with a thread per connection. `serve(Request)` responds."""

    def __init__(self, record, serve, port=0):
        self.record = record
        self.serve = serve
        self.port = port
        self.refusals = 0
        self._open = {}
        self._cut = set()
        self._count = 0
        self._socket = None
        self.up()

    def up(self):
        if self._socket is not None:
            return
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, RX_SOFTWARE | SOFTWARE)
        self._socket.bind(("127.0.0.1", self.port))
        self._socket.listen(128)
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._socket,), daemon=True).start()

    def down(self, keep=False, spared=None):
        """Refuses new connections and, unless `keep`, cuts the existing ones except `spared`."""
        listening, self._socket = self._socket, None
        if listening is not None:
            listening.shutdown(socket.SHUT_RDWR)
            listening.close()
        if not keep:
            for connection in list(self._open):
                if connection is not spared:
                    self.cut(connection)

    def cut(self, connection):
        """Resets a connection that another thread reads, so that this thread sees its end."""
        self._cut.add(connection)
        drop_socket(connection, True)
        try:
            connection.shutdown(socket.SHUT_RD)
        except OSError:
            pass

    def is_cut(self, connection):
        return connection in self._cut

    def number_of(self, connection):
        return self._open.get(connection, 0)

    def _accept(self, listening):
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            if self.refusals > 0:
                self.refusals -= 1
                drop_socket(connection, True)
                connection.close()
                continue
            self._count += 1
            self._open[connection] = self._count
            threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, connection):
        try:
            Handler(connection, connection.getpeername(), self)
        except OSError:
            pass
        finally:
            self._open.pop(connection, None)
            self._cut.discard(connection)
            connection.close()


def trickle(handler, data, size, every):
    """Writes in small pieces. This is the only sleep, because a slow response was requested."""
    for start in range(0, len(data), size):
        handler.wfile.write(data[start : start + size])
        time.sleep(every)
