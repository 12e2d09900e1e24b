# SPDX-License-Identifier: MIT
"""Many people talk to one bot in Microsoft Teams at once."""
from crowd import main

main("teams")
