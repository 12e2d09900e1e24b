# SPDX-License-Identifier: MIT
"""A host that serves Microsoft Teams is killed repeatedly: each message gets one outcome, and a repeated one is
marked as a repeat."""
from killing import main
from talk import LONG, rounds

main({"teams": 8}, rounds(300 if LONG else 12))
