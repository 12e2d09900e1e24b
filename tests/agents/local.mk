# SPDX-License-Identifier: MIT
# Published agents, against a scripted model: pinned by package-lock.json and installed into the build
# folder by `make agents` and `make agents/more` (tests/npm/local.mk). Without them the tests are skipped.

AGENT_TESTS = tests/agents/t_claude_asks.py tests/agents/t_claude_code.py tests/agents/t_codex.py \
	tests/agents/t_codex_app.py tests/agents/t_waiting.py
MORE_AGENT_TESTS = tests/agents/more/t_more.py tests/agents/more/t_more_asks.py
EXTRA_DIST += $(AGENT_TESTS) $(MORE_AGENT_TESTS) tests/agents/agents.py \
	tests/agents/package.json tests/agents/package-lock.json \
	tests/agents/more/package.json tests/agents/more/package-lock.json

list-agents:
	@echo $(AGENT_TESTS)
list-more-agents:
	@echo $(MORE_AGENT_TESTS)
.PHONY: list-agents list-more-agents
