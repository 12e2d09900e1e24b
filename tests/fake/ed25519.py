# SPDX-License-Identifier: MIT
"""Signatures of RFC 8032 (Ed25519) for fakes: slow, and not protected against timing attacks."""

import hashlib

P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
BASE_Y = 4 * pow(5, P - 2, P) % P


def _base_x():
    square = (BASE_Y * BASE_Y - 1) * pow(D * BASE_Y * BASE_Y + 1, P - 2, P)
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return x if x % 2 == 0 else P - x


def _add(a, b):
    """Adds two points in extended coordinates."""
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = f - e, h - g, h + g, f + e
    return e * f % P, g * h % P, f * g % P, e * h % P


def _times(number, point):
    made = (0, 1, 1, 0)
    while number:
        if number & 1:
            made = _add(made, point)
        point = _add(point, point)
        number >>= 1
    return made


_X = _base_x()
BASE = (_X, BASE_Y, 1, _X * BASE_Y % P)


def _packed(point):
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _number(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def _secret(seed):
    digest = hashlib.sha512(seed).digest()
    number = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | (1 << 254)
    return number, digest[32:]


def public_key(seed):
    return _packed(_times(_secret(seed)[0], BASE))


def sign(seed, data):
    number, prefix = _secret(seed)
    key, once = public_key(seed), _number(prefix, data) % L
    point = _packed(_times(once, BASE))
    return point + ((once + _number(point, key, data) * number) % L).to_bytes(32, "little")
