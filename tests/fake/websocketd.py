#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A strict WebSocket server on a free loopback port. The path of the request chooses its behaviour.

Prints "PORT n", then a line for each event: "/path open", "/path close 1000",
"fault: ...". With two arguments, certificate and key, it speaks TLS. Ends with its stdin.
"""
import base64
import hashlib
import os
import socket
import ssl
import struct
import sys
import threading
import time

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
MIB = 1 << 20


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def fault(what):
    say("fault: " + what)


class Gone(Exception):
    pass


class Peer:
    def __init__(self, sock):
        self.sock = sock
        self.path = "?"

    def read(self, n):
        data = b""
        while len(data) < n:
            more = self.sock.recv(n - len(data))
            if not more:
                raise Gone
            data += more
        return data

    def send(self, opcode, payload=b"", fin=True):
        head = bytes([(0x80 if fin else 0) | opcode])
        n = len(payload)
        if n < 126:
            head += bytes([n])
        elif n < 65536:
            head += struct.pack(">BH", 126, n)
        else:
            head += struct.pack(">BQ", 127, n)
        self.sock.sendall(head + payload)

    def drip(self, opcode, payload, fin):
        """Sends the frame byte by byte."""
        head = bytes([(0x80 if fin else 0) | opcode, len(payload)])
        for byte in head + payload:
            self.sock.sendall(bytes([byte]))

    def frame(self):
        """Returns opcode and payload of the next frame of the client."""
        first, second = self.read(2)
        opcode, n = first & 15, second & 127
        if first & 0x70:
            fault("reserved bits")
        if not second & 0x80:
            fault("a frame without mask")
        if opcode >= 8 and (n > 125 or not first & 0x80):
            fault("a control frame that is long or split")
        if opcode not in (0, TEXT, BINARY, CLOSE, PING, PONG):
            fault("opcode %d" % opcode)
        if n == 126:
            n = struct.unpack(">H", self.read(2))[0]
        elif n == 127:
            n = struct.unpack(">Q", self.read(8))[0]
        mask = self.read(4)
        data = bytearray(self.read(n))
        for i in range(4):
            data[i::4] = bytes(b ^ mask[i] for b in data[i::4])
        if opcode == TEXT:
            try:
                data.decode()
            except UnicodeDecodeError:
                fault("text that is not UTF-8")
        return opcode, bytes(data)

    def closed(self, payload):
        say("%s close %d" % (self.path, struct.unpack(">H", payload[:2])[0] if payload else 0))

    def serve(self, answer_pings=True, answer_close=True):
        """Echoes messages until the client closes the connection."""
        while True:
            opcode, payload = self.frame()
            if opcode in (TEXT, BINARY):
                self.send(opcode, payload)
            elif opcode == PING:
                say("%s ping" % self.path)
                if answer_pings:
                    self.send(PONG, payload)
            elif opcode == CLOSE:
                self.closed(payload)
                if answer_close:
                    self.send(CLOSE, payload[:2])
                return

    def until_closed(self):
        while self.sock.recv(65536):
            pass


def split(peer):
    peer.drip(TEXT, b"he", False)
    peer.drip(PING, b"between", True)
    peer.drip(0, b"llo w\xc3", False)
    peer.drip(0, b"\xb6rld", True)
    opcode, payload = peer.frame()
    if (opcode, payload) != (PONG, b"between"):
        fault("no pong")
    peer.serve()


def pinger(peer):
    """Sends pings, and answers none."""
    def ping():
        try:
            for _ in range(50):
                peer.send(PING, b"x")
                time.sleep(0.05)
            peer.send(TEXT, b"still here")
        except OSError:
            pass
    threading.Thread(target=ping, daemon=True).start()
    while True:
        opcode, payload = peer.frame()
        if opcode == CLOSE:
            peer.closed(payload)
            return


def big(peer):
    for i in range(4):
        peer.send(TEXT if i == 0 else 0, b"x" * (MIB // 4), i == 3)
    peer.serve()


def huge(peer):
    peer.send(TEXT, b"x" * MIB, False)
    peer.send(0, b"x", True)
    peer.serve()


def endless(peer):
    """Sends fragments without end."""
    peer.send(TEXT, b"x" * 65536, False)
    for _ in range(31):
        peer.send(0, b"x" * 65536, False)
    peer.serve()


def flood(peer):
    for i in range(64):
        peer.send(TEXT, (b"%02d" % i) + b"y" * (MIB - 2))
    peer.serve()


def drop(peer):
    peer.sock.sendall(bytes([0x81, 100]) + b"only so much")


def dripping(peer):
    """Sends a frame without end, a byte now and then."""
    peer.sock.sendall(bytes([0x81, 126, 255, 255]))
    for _ in range(50):
        peer.sock.sendall(b"x")
        time.sleep(0.05)


def deaf(peer):
    """Answers the close frame, and keeps the connection open."""
    peer.serve()
    peer.until_closed()


def stubborn(peer):
    peer.serve(answer_close=False)
    peer.until_closed()


SCENES = {
    "/echo": lambda p: p.serve(),
    "/split": split,
    "/silent": lambda p: time.sleep(30),
    "/pinger": pinger,
    "/dripping": dripping,
    "/big": big,
    "/huge": huge,
    "/endless": endless,
    "/flood": flood,
    "/binary": lambda p: (p.send(BINARY, b"\0\1"), p.serve()),
    "/latin1": lambda p: (p.send(TEXT, b"caf\xe9"), p.serve()),
    "/garbage": lambda p: (p.sock.sendall(b"\xff" * 64), p.until_closed()),
    "/drop": drop,
    "/bye": lambda p: (p.send(CLOSE, struct.pack(">H", 1001) + b"going\naway"), p.until_closed()),
    "/deaf": deaf,
    "/stubborn": stubborn,
    "/sink": lambda p: time.sleep(30),
}

ANSWERS = {
    "/302": "302 Found\r\nLocation: /echo",
    "/403": "403 Forbidden",
    "/garbled": "101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
}


def handshake(peer):
    """Returns the path, or None if the request is not a WebSocket handshake."""
    head = b""
    while b"\r\n\r\n" not in head:
        head += peer.read(1)
    lines = head.decode().split("\r\n")
    method, target, version = lines[0].split(" ")
    headers = {k.strip().lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:-2])}
    path = target.split("?")[0]
    peer.path = path
    if method != "GET" or version != "HTTP/1.1":
        fault("request line")
    if not headers.get("host", "").startswith(("localhost:", "127.0.0.1:")):
        fault("Host is " + headers.get("host", "missing"))
    if headers.get("upgrade", "").lower() != "websocket" or "upgrade" not in headers.get("connection", "").lower():
        fault("no Upgrade")
    if headers.get("sec-websocket-version") != "13":
        fault("version")
    if len(base64.b64decode(headers.get("sec-websocket-key", ""))) != 16:
        fault("key")
    if path == "/mute":
        peer.until_closed()
        return False
    if path in ANSWERS:
        peer.sock.sendall(("HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n" % ANSWERS[path]).encode())
        peer.until_closed()
        return False
    accept = base64.b64encode(hashlib.sha1(
        (headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
    peer.sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                      b"Connection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n")
    if "x-test" in headers:
        say("%s x-test %s" % (path, headers["x-test"]))
    say("%s open" % path)
    return True


def serve(sock, context):
    try:
        if context:
            sock = context.wrap_socket(sock, server_side=True)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer = Peer(sock)
        if handshake(peer):
            SCENES[peer.path](peer)
    except (Gone, OSError):
        pass
    finally:
        sock.close()


def end_with_stdin():
    sys.stdin.read()
    os._exit(0)


def main():
    context = None
    if len(sys.argv) == 3:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    say("PORT %d" % listener.getsockname()[1])
    threading.Thread(target=end_with_stdin, daemon=True).start()
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=serve, args=(sock, context), daemon=True).start()


main()
