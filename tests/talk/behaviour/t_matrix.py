#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The behaviour suite for the connector matrix."""
import sys

from suite import main

main("matrix", sys.argv[1:])
