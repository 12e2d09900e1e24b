#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The behaviour suite for the connector slack."""
import sys

from suite import main

main("slack", sys.argv[1:])
