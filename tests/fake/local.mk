# SPDX-License-Identifier: MIT
# Programs that tests run: built with them, no tests themselves. A test that needs one says
#	EXTRA_tests_io_t_x_DEPENDENCIES = tests/fake/agent$(EXEEXT)

EXTRA_PROGRAMS += tests/fake/agent
CLEANFILES += tests/fake/agent$(EXEEXT)

# talker: an agent that answers what it is asked
EXTRA_PROGRAMS += tests/fake/talker
CLEANFILES += tests/fake/talker$(EXEEXT)

# maxrss: what a command needed of memory
EXTRA_PROGRAMS += tests/fake/maxrss
CLEANFILES += tests/fake/maxrss$(EXEEXT)

# The services, scripted: Python programs.
EXTRA_DIST += tests/fake/README.md
