#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The behaviour suite for the connector telegram."""
import sys

from suite import main

main("telegram", sys.argv[1:])
