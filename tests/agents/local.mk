# SPDX-License-Identifier: MIT
# Published agents, against a scripted model: pinned by package-lock.json and installed into the build
# folder by `make agents`. Without them the tests are skipped.

AGENT_TESTS = tests/agents/t_claude_code.py
EXTRA_DIST += $(AGENT_TESTS) tests/agents/package.json tests/agents/package-lock.json

agents:
	$(MKDIR_P) tests/agents
	cp $(srcdir)/tests/agents/package.json $(srcdir)/tests/agents/package-lock.json tests/agents
	cd tests/agents && npm ci --ignore-scripts --no-audit --no-fund
clean-local: agents-clean
agents-clean:
	rm -rf tests/agents/node_modules
	test . -ef $(srcdir) || rm -f tests/agents/package.json tests/agents/package-lock.json
list-agents:
	@echo $(AGENT_TESTS)
.PHONY: agents agents-clean list-agents
