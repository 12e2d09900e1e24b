# SPDX-License-Identifier: MIT
"""Connectors in a process of their own start, end, hang and crash while a turn streams."""
from pause import run_all

run_all("process")
