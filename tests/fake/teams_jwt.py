# SPDX-License-Identifier: MIT
"""JSON Web Tokens of the Teams fake: RSA with SHA-256, keys for tests only, and invalid tokens."""

import base64
import hashlib
import hmac
import json
import time

ISSUER = "https://api.botframework.com"
E = 65537
# kid: modulus, private exponent
KEYS = {
    "fake-key-1": (
        "bfaf165ce36c647abd463435047df52d921338a80f1e9ed7660f346c2f658ba4c85c3f8a5a4111f9dde2"
        "a724acbeea154d050c37a99a214961f6c13b977b5f9737669fc2ad4f5ee3707be85462e7b989f2fa53a1"
        "79f8d752e847b86138a88b03ce31b2dd99068a52503ee43f40775753594e865405a2e97f10393e75a62d"
        "c8187a449013c7cb760e6913fd643306fbb47ffd65dae0f678fe11f04e9a21b342d0943999911b9b42f3"
        "2d4a35327d7d266d2eae701ca02167b7752ae2680bcfb6a0cb8175cc54344e4011155c707de447815127"
        "fcb687a6befa2ef32a3536498e33d5d972cd9dd28716688b017eb55e9a6fd99e1321487b71a79045f75a"
        "3c38de45",
        "1c2930afa260d70d3a37f16d15951cbb5e71d0f9cdc8d99cbb1b823fdfa1bb4791010e7bb8c1450f10c4"
        "5efa721f953bde661eb2a1c9e95882da31eedb952e48c4c4a0b584e93b7f4e140220bdac1e13d07ceae2"
        "f70cb233b5b8edb368d3c8229dbd2af247ec504f82070f58e49373e2a4a4f6f2aaa651c80f5ddd9982b9"
        "c8a2e0df3b1db4c3c559bf804b67d96e99e659576aeecde9b33b5cf49afed150350310c0b6e3a165cfea"
        "d03efde5f68e4988984ce596e21c6b6bfe8e307f3339ef9b94d7958e50ac1d76e6c96ee78cda822e2962"
        "034b82ece1eba17a92a594ce9ea041c9e7c23361298b1bdc26ca993c8f989213935aecffd010dcc52ea9"
        "44aa70c9",
    ),
    "fake-key-2": (
        "a9b55d00a6ac0ed02edfeb9048154a4be9df090b5c85753de3439f9d2860ebfc2897c513c77aa4f74ac1"
        "e7cbcc2f2e87214f7631e3f340c8f4f5fbf0072bc256c386234d5fb06a36ae53975b3baaca2b41c17eec"
        "dbf2c618073cdf290af5e837561498dfe5a186e340308190ee768c2021e6b8d5d0fa7d3d205d03b54299"
        "a003f90393f7e63e0af58d5ebc78113c9fdc9e3be70d6fdd7ebdd6170abe854a63fbdce0948b58593e78"
        "dd324c4fc66f162085a291e5318cbe26bda73f8737f7e45dd635e403d7dc6669f4f8dc1b1784cad5c431"
        "a8a9d5cc0253936c70508f29e65ccf6c7e50c44403f94cc8bd010f3c8f6254bbdc466c7ee4f8618421ba"
        "3c868259",
        "02b143ab37b9b9977072f1820dbeb6b9cb195483a7615fa98e723b754b17748f00d6dd93d1819edde483"
        "fc893571572fe225a856a4caee6f71c1785087d09829f7baa853392e2b9538015000accaea1fb3109e92"
        "a3efaf5860bf04bc5a35ea0bfcb3e17405e8e0e2b8993c68fffb8600198197539f17e64642bdef09e067"
        "5f0c4272bb66ccf7e937967ee0af6d460daddd6e50662d7f872525f353493b22e536e1933eb552c14ae7"
        "5fafb99b55f1854be97761764c812ff86d60c4fb717d39cd5c2e6e7aa7e8540678bf321b8e14be4eb7f6"
        "e543717bc15eafa374886f393e6409629461f5a86dae7a2419b9b8dee5042361afde640b7d05f241b84d"
        "c99334a1",
    ),
}
# DigestInfo of SHA-256, RFC 8017
PREFIX = bytes.fromhex("3031300d060960864801650304020105000420")


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(number):
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def _sign(text, kid):
    n, d = (int(part, 16) for part in KEYS[kid])
    size = (n.bit_length() + 7) // 8
    info = PREFIX + hashlib.sha256(text).digest()
    padded = b"\0\1" + b"\xff" * (size - len(info) - 3) + b"\0" + info
    return pow(int.from_bytes(padded, "big"), d, n).to_bytes(size, "big")


def jwks(kids, endorsements):
    """Returns the document with the public keys."""
    keys = []
    for kid in kids:
        n = b64(_bytes(int(KEYS[kid][0], 16)))
        key = {"kty": "RSA", "use": "sig", "kid": kid, "x5t": kid, "n": n, "e": b64(_bytes(E))}
        keys.append({**key, "endorsements": endorsements})
    return {"keys": keys}


def claims_of(app_id, service_url):
    now = int(time.time())
    return {"iss": ISSUER, "aud": app_id, "serviceurl": service_url, "nbf": now - 5, "exp": now + 3600}


def token(claims, kid="fake-key-1", alg="RS256", signed_by=None, changed=False):
    """`signed_by`: another key; `changed`: changes the claims after signing."""
    header = {"typ": "JWT", "alg": alg, "kid": kid, "x5t": kid}
    parts = [b64(json.dumps(part).encode()) for part in (header, claims)]
    text = ".".join(parts).encode()
    if alg == "none":
        signature = b""
    elif alg == "HS256":  # with the public key as the secret
        secret = b64(_bytes(int(KEYS[kid][0], 16))).encode()
        signature = hmac.new(secret, text, hashlib.sha256).digest()
    else:
        signature = _sign(text, signed_by or kid)
    if changed:
        parts[1] = b64(json.dumps({**claims, "more": True}).encode())
    return ".".join([*parts, b64(signature)])
