# SPDX-License-Identifier: MIT
"""Two hundred people talk to one app of Slack at once."""
from crowd import main

main("slack")
