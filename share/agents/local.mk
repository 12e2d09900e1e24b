# SPDX-License-Identifier: MIT
# Definitions of agents; `turncast init` copies those of installed agents.

agentsdir = $(pkgdatadir)/agents
dist_agents_DATA = share/agents/claude.conf share/agents/codex.conf share/agents/copilot.conf \
	share/agents/gemini.conf share/agents/opencode.conf share/agents/qwen.conf \
	share/agents/codex-app.conf share/agents/copilot-acp.conf share/agents/gemini-acp.conf \
	share/agents/opencode-acp.conf share/agents/qwen-acp.conf
