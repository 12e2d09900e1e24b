# SPDX-License-Identifier: MIT
"""A host that serves Discord is killed repeatedly: its sessions are resumed and its nonces recognised, so no
message is lost or duplicated."""
from killing import main
from talk import LONG, rounds

main({"discord": 8}, rounds(300 if LONG else 20))
