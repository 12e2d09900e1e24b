#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A proxy on a free loopback port: CONNECT of HTTP and SOCKS 5, told apart by the first byte.

Whatever host it is asked for, it connects to 127.0.0.1 and the port, but refuses "refused.test"
with 403. Prints "PORT n", then a line for each connection: "connect HOST:PORT USER:PASSWORD",
"socks HOST:PORT USER:PASSWORD" with "-" for no credentials, or "fault: ...". Ends with its stdin.
"""
import base64
import socket
import struct
import sys
import threading


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Gone(Exception):
    pass


def read(sock, n):
    data = b""
    while len(data) < n:
        more = sock.recv(n - len(data))
        if not more:
            raise Gone
        data += more
    return data


def read_head(sock, data):
    while not data.endswith(b"\r\n\r\n"):
        data += read(sock, 1)
    lines = data.decode().split("\r\n")
    return lines[0], {k.lower(): v for k, _, v in (x.partition(": ") for x in lines[1:] if x)}


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def tunnel(client, port, answer):
    with socket.create_connection(("127.0.0.1", port)) as service:
        client.sendall(answer)
        back = threading.Thread(target=pump, args=(service, client), daemon=True)
        back.start()
        pump(client, service)
        back.join()


def serve_connect(client, first):
    line, headers = read_head(client, first)
    method, target, _ = line.split(" ")
    credentials = "-"
    if "proxy-authorization" in headers:
        credentials = base64.b64decode(headers["proxy-authorization"].split(" ")[1]).decode()
    if method != "CONNECT":
        say(f"fault: {line}")
        client.sendall(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
        return
    say(f"connect {target} {credentials}")
    host, _, port = target.rpartition(":")
    if host == "refused.test":
        client.sendall(b"HTTP/1.1 403 Forbidden\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n")
        return
    tunnel(client, int(port), b"HTTP/1.1 200 Connection established\r\n\r\n")


def read_socks_address(client):
    kind = read(client, 1)[0]
    if kind == 3:
        return read(client, read(client, 1)[0]).decode()
    family, n = (socket.AF_INET, 4) if kind == 1 else (socket.AF_INET6, 16)
    return socket.inet_ntop(family, read(client, n))


def serve_socks(client):
    methods = read(client, read(client, 1)[0])
    credentials = "-"
    if 2 in methods:
        client.sendall(b"\x05\x02")
        read(client, 1)
        user = read(client, read(client, 1)[0]).decode()
        credentials = user + ":" + read(client, read(client, 1)[0]).decode()
        client.sendall(b"\x01\x00")
    else:
        client.sendall(b"\x05\x00")
    read(client, 3)
    host = read_socks_address(client)
    port = struct.unpack(">H", read(client, 2))[0]
    say(f"socks {host}:{port} {credentials}")
    tunnel(client, port, b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")


def serve(client):
    with client:
        try:
            first = read(client, 1)
            if first == b"\x05":
                serve_socks(client)
            else:
                serve_connect(client, first)
        except (Gone, OSError):
            pass


def accept(listener):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client,), daemon=True).start()


def main():
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    say(f"PORT {listener.getsockname()[1]}")
    threading.Thread(target=accept, args=(listener,), daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
