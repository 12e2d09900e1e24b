# SPDX-License-Identifier: MIT
"""Many people talk to one account of Matrix at once."""
from crowd import main

main("matrix")
