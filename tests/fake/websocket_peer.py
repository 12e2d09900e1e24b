# SPDX-License-Identifier: MIT
"""The server side of one WebSocket (RFC 6455): its handshake and frames, for the fakes that have
sockets. Each fake interprets its own messages."""

import base64
import hashlib
import struct

from server import Answer

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
MAX_FRAME = 1 << 20


class Broken(Exception):
    """A violation of the protocol by the peer, with its close code."""


def refused(request):
    """Returns a response if the request is not a handshake."""
    headers = request.headers
    upgrade = headers.get("upgrade", "").lower() == "websocket"
    key = headers.get("sec-websocket-key", "")
    if not upgrade or "upgrade" not in headers.get("connection", "").lower() or not key:
        return Answer(400, "")
    if headers.get("sec-websocket-version") != "13" or len(base64.b64decode(key)) != 16:
        return Answer(426, "", {"Sec-WebSocket-Version": "13"})
    return None


class Peer:
    def __init__(self, handler):
        self.handler = handler
        self.closed = False

    def accept(self, request):
        key = request.headers["sec-websocket-key"]
        accept = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
        head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
        head += f"Connection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        self.handler.wfile.write(head.encode())

    def send(self, opcode, data=b""):
        """Sends while the lock of the record is held; returns False if the peer is gone."""
        if self.closed:
            return False
        head = bytes([0x80 | opcode])
        if len(data) < 126:
            head += bytes([len(data)])
        elif len(data) < 65536:
            head += b"\x7e" + struct.pack(">H", len(data))
        else:
            head += b"\x7f" + struct.pack(">Q", len(data))
        try:
            self.handler.wfile.write(head + data)
            return True
        except OSError:
            return False

    def close(self, code, words=""):
        return self.send(CLOSE, struct.pack(">H", code) + words.encode())

    # ---- reading, in the thread of the connection, without the lock ----

    def _exactly(self, count):
        data = self.handler.rfile.read(count)
        if len(data) < count:
            raise EOFError
        return data

    def _frame(self):
        first, second = self._exactly(2)
        if first & 0x70:
            raise Broken(1002)
        if not second & 0x80:
            raise Broken(1002)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", self._exactly(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self._exactly(8))
        if length > MAX_FRAME:
            raise Broken(1009)
        key = self._exactly(4)
        data = bytes(b ^ key[i % 4] for i, b in enumerate(self._exactly(length)))
        opcode, last = first & 0x0F, bool(first & 0x80)
        if opcode >= CLOSE and (not last or length > 125):
            raise Broken(1002)
        return last, opcode, data

    def frames(self):
        """Yields messages and control frames."""
        parts, kind = [], None
        while True:
            last, opcode, data = self._frame()
            if opcode >= CLOSE:
                yield opcode, data
                continue
            if (opcode == CONTINUATION) != (kind is not None):
                raise Broken(1002)
            kind = kind if opcode == CONTINUATION else opcode
            parts.append(data)
            if last:
                yield kind, b"".join(parts)
                parts, kind = [], None
