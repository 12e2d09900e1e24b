# SPDX-License-Identifier: MIT
# Published agents, against a scripted model: pinned by package-lock.json and installed into the build
# folder by `make agents` (tests/npm/local.mk). Without them the tests are skipped.

AGENT_TESTS = tests/agents/t_claude_code.py
EXTRA_DIST += $(AGENT_TESTS) tests/agents/package.json tests/agents/package-lock.json

list-agents:
	@echo $(AGENT_TESTS)
.PHONY: list-agents
