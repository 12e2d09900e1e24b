# SPDX-License-Identifier: MIT
"""Many people talk to one bot of Discord at once."""
from crowd import main

main("discord")
