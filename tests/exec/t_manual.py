# SPDX-License-Identifier: MIT
"""The messages that turncast-exec(7) shows are valid, and every message of the schema is shown."""
import json
import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ["TURNCAST_SRCDIR"])
sys.path.insert(0, str(SOURCE / "tests" / "tap"))

from schema import SCHEMA, fault  # noqa: E402
from tap import done, equal  # noqa: E402


def shown(title):
    """The messages below a heading; a line that begins with a blank continues one."""
    section = PAGE.split(f".Sh {title}\n")[1].split(".Sh ")[0]
    block = re.search(r"\.Bd -literal\n(.*?)\.Ed", section, re.DOTALL).group(1)
    return [json.loads(line) for line in block.replace("\n ", " ").splitlines()]


PAGE = (SOURCE / "plugins" / "exec" / "turncast-exec.7").read_text()
for heading, direction in (("MESSAGES TO THE PROGRAM", "to_program"),
                           ("MESSAGES OF THE PROGRAM", "from_program")):
    names = {row["title"] for row in SCHEMA["$defs"][direction]["oneOf"]}
    messages = shown(heading) + [m for m in shown("CHATS") if m["tc"] in names]
    for message in messages:
        equal(fault(message, direction), None, json.dumps(message))
    equal({message["tc"] for message in messages}, names, f"{heading}: all are shown")
done()
