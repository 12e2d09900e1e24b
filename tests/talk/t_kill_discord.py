# SPDX-License-Identifier: MIT
"""A host that serves Discord is killed again and again: its sessions are resumed and its nonces
recognised, so no message is lost and nothing is doubled."""
from killing import main
from talk import LONG, rounds

main({"discord": 8}, rounds(300 if LONG else 20))
