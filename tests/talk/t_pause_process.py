# SPDX-License-Identifier: MIT
"""Connectors in separate processes start, end, hang and crash while a turn streams."""
from pause import run_all

run_all("process")
