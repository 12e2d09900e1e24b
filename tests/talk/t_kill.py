# SPDX-License-Identifier: MIT
"""A host that serves Telegram and Slack is killed again and again."""
from killing import main
from talk import LONG, rounds

main({"telegram": 15, "slack": 35}, rounds(300 if LONG else 30))  # Telegram lets a bot say less
