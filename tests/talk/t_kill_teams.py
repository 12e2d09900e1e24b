# SPDX-License-Identifier: MIT
"""A host that serves Microsoft Teams is killed again and again: each message gets one outcome, and what
arrives twice says that it may be a repeat."""
from killing import main
from talk import LONG, rounds

main({"teams": 8}, rounds(300 if LONG else 12))
