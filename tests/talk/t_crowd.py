# SPDX-License-Identifier: MIT
"""Two hundred people talk to one bot of Telegram at once."""
from crowd import main

main("telegram")
