#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The behaviour suite for the connector discord."""
import sys

from suite import main

main("discord", sys.argv[1:])
