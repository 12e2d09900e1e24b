# SPDX-License-Identifier: MIT
# Configuration to begin with. It is documentation: an installation never touches the real one.

dist_doc_DATA = etc/turncast.conf
agentsdir = $(docdir)/agents
dist_agents_DATA = etc/agents/claude.conf etc/agents/codex.conf etc/agents/copilot.conf \
	etc/agents/gemini.conf etc/agents/opencode.conf etc/agents/qwen.conf
