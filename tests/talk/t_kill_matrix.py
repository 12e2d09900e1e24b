# SPDX-License-Identifier: MIT
"""A host that serves Matrix is killed repeatedly: the homeserver recognises repeated messages, so none is
duplicated, and none is lost although timelines are limited."""
from killing import main
from talk import LONG, rounds

# All that the account may send is ten messages a second.
main({"matrix": 8}, rounds(300 if LONG else 20))
