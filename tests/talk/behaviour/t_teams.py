#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The behaviour suite for the connector teams."""
import sys

from suite import main

main("teams", sys.argv[1:])
