# SPDX-License-Identifier: MIT
"""Connectors in threads of the host start, end, hang and crash while a turn streams."""
from pause import run_all

run_all("thread")
