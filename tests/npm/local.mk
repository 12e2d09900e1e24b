# SPDX-License-Identifier: MIT
# What others publish, to judge what turncast writes: packages of npm, pinned by package-lock.json
# and installed into the build folder by `make npm`. Without them the tests are skipped.

CLIENT_TESTS = tests/npm/ag_ui.t tests/npm/ag_ui_ask.t tests/npm/ag_ui_http.t tests/npm/email.t tests/npm/discord.t tests/npm/matrix.t tests/npm/openai.t tests/npm/otlp.t tests/npm/slack.t tests/npm/telegram.t
EXTRA_DIST += tests/npm/ag_ui.t tests/npm/ag_ui_ask.t tests/npm/ag_ui_http.t tests/npm/email.t tests/npm/discord.t tests/npm/matrix.t tests/npm/openai.t tests/npm/otlp.t tests/npm/slack.t tests/npm/telegram.t tests/npm/package.json tests/npm/package-lock.json \
	tests/npm/ag_ui.mjs tests/npm/ag_ui_ask.mjs tests/npm/ag_ui_http.mjs tests/npm/email.mjs tests/npm/fake.mjs tests/npm/host.mjs tests/npm/discord.mjs tests/npm/matrix.mjs tests/npm/openai.mjs tests/npm/otlp.mjs tests/npm/slack.mjs tests/npm/telegram.mjs
CLIENT_TESTS += tests/npm/ai_sdk.t tests/npm/nats_runs.t tests/npm/teams.t tests/npm/webhook.t
EXTRA_DIST += tests/npm/ai_judge.mjs tests/npm/ai_sdk.mjs tests/npm/ai_sdk.t tests/npm/nats_runs.mjs tests/npm/nats_runs.t tests/npm/teams.mjs tests/npm/teams.t tests/npm/webhook.mjs tests/npm/webhook.t

# Each installs what its own folder pins; those of tests/agents/ do so, too.
npm agents agents/more:
	$(MKDIR_P) tests/$@
	cp $(srcdir)/tests/$@/package.json $(srcdir)/tests/$@/package-lock.json tests/$@
	cd tests/$@ && npm $(NPM_INSTALL) --ignore-scripts --no-audit --no-fund
npm agents: NPM_INSTALL = ci
# Packages of agents/more name variants for other platforms that are not published: `npm ci` refuses.
agents/more: NPM_INSTALL = install --no-save
clean-local: npm-clean
npm-clean:
	for folder in npm agents agents/more; do \
		rm -rf tests/$$folder/node_modules; \
		test . -ef $(srcdir) || rm -f tests/$$folder/package.json tests/$$folder/package-lock.json; \
	done
list-clients:
	@echo $(CLIENT_TESTS)
.PHONY: npm agents agents/more npm-clean list-clients
