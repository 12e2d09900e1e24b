# SPDX-License-Identifier: MIT
"""Certificates of servers and clients, made with openssl."""
import subprocess


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def make_authority(folder, name="ca"):
    openssl("req", "-x509", *NEW_KEY, "-days", "2", "-subj", f"/CN={name}", "-keyout", folder / f"{name}.key",
            "-out", folder / f"{name}.pem")


def make_certificate(folder, name, authority="ca", days=2, names="DNS:localhost,IP:127.0.0.1"):
    openssl("req", *NEW_KEY, "-subj", f"/CN={name}", "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.csr")
    (folder / f"{name}.ext").write_text(f"subjectAltName={names}\n")
    openssl("x509", "-req", "-in", folder / f"{name}.csr", "-CA", folder / f"{authority}.pem", "-CAkey",
            folder / f"{authority}.key", "-CAcreateserial", "-days", days, "-extfile", folder / f"{name}.ext",
            "-out", folder / f"{name}.pem")
    (folder / f"{name}.key").chmod(0o600)


def make_certificates(folder):
    make_authority(folder)
    make_authority(folder, "other")
    for name in ("server", "build1"):
        make_certificate(folder, name)
    make_certificate(folder, "expired", days=-1)
    make_certificate(folder, "elsewhere", names="DNS:elsewhere.example")
    make_certificate(folder, "stranger", authority="other")
