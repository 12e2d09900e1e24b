# SPDX-License-Identifier: MIT
"""The common part of the fakes of agents that are services: a strict HTTP server on loopback, in
threads of the test, which streams server-sent events. Violations of the protocol by the client are
collected in `violations`."""
import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CUT = object()


class Stream:
    """A client that reads events."""

    def __init__(self):
        self.frames = queue.Queue()

    def send(self, frame):
        self.frames.put(frame)

    def end(self):
        """Ends the stream normally."""
        self.frames.put(None)

    def cut(self):
        """Resets the connection within the stream."""
        self.frames.put(CUT)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.service.accept_request(self)

    do_POST = do_GET

    def reply(self, status, body=b"", content_type="application/json"):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        if body:
            self.send_header("Content-Type", content_type)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, stream, content_type="text/event-stream"):
        """Returns when the stream ends, is cut, or the client disconnects."""
        self.close_connection = True
        if self.headers.get("Accept") != "text/event-stream":
            self.server.service.violate(f"{self.path}: events are requested as {self.headers.get('Accept')}")
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while (frame := stream.frames.get()) is not None:
                if frame is CUT:
                    return
                data = frame.encode() if isinstance(frame, str) else frame
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # the client has disconnected


class AgentService:
    """Subclasses have `serve(handler, method, path, body)`, which responds."""

    def __init__(self, token=None, port=0):
        self.token = token
        self.violations = []
        self.calls = []  # (method, path, body), of each request with the right token
        self.lock = threading.RLock()
        self.streams = []
        self.server = Server(("127.0.0.1", port), Handler)
        self.server.service = self
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        for stream in list(self.streams):
            stream.cut()

    def violate(self, text):
        self.violations.append(text)

    def called(self, path):
        return [body for _, at, body in list(self.calls) if at == path]

    def accept_request(self, handler):
        length = int(handler.headers.get("Content-Length") or 0)
        raw = handler.rfile.read(length)
        if self.token and handler.headers.get("Authorization") != f"Bearer {self.token}":
            handler.reply(401, {"error": "unauthorized"})
            return
        body = None
        if raw:
            if handler.headers.get("Content-Type") != "application/json":
                self.violate(f"{handler.path}: the content type is {handler.headers.get('Content-Type')}")
                handler.reply(415, {"error": "content type"})
                return
            try:
                body = json.loads(raw)
            except ValueError:
                self.violate(f"{handler.path}: no JSON: {raw!r}")
                handler.reply(400, {"error": "no JSON"})
                return
        with self.lock:
            self.calls.append((handler.command, handler.path, body))
        self.serve(handler, handler.command, handler.path, body)

    def wrong(self, handler, status, text):
        """Records a request that no client should send."""
        self.violate(f"{handler.command} {handler.path}: {text}")
        handler.reply(status, {"error": text})

    def subscribe(self):
        stream = Stream()
        with self.lock:
            self.streams.append(stream)
        return stream

    def send(self, frame):
        """Sends to all readers."""
        with self.lock:
            for stream in self.streams:
                stream.send(frame)

    def drop(self):
        """Closes the connections of all readers."""
        with self.lock:
            for stream in self.streams:
                stream.cut()
            self.streams.clear()
