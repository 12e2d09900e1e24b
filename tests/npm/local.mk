# SPDX-License-Identifier: MIT
# What others publish, to judge what turncast writes: packages of npm, pinned by package-lock.json
# and installed into the build folder by `make npm`. Without them the tests are skipped.

CLIENT_TESTS = tests/npm/ag_ui.t tests/npm/ag_ui_ask.t tests/npm/ag_ui_http.t tests/npm/openai.t tests/npm/slack.t tests/npm/telegram.t
EXTRA_DIST += tests/npm/ag_ui.t tests/npm/ag_ui_ask.t tests/npm/ag_ui_http.t tests/npm/openai.t tests/npm/slack.t tests/npm/telegram.t tests/npm/package.json tests/npm/package-lock.json \
	tests/npm/ag_ui.mjs tests/npm/ag_ui_ask.mjs tests/npm/ag_ui_http.mjs tests/npm/fake.mjs tests/npm/host.mjs tests/npm/openai.mjs tests/npm/slack.mjs tests/npm/telegram.mjs

npm:
	$(MKDIR_P) tests/npm
	cp $(srcdir)/tests/npm/package.json $(srcdir)/tests/npm/package-lock.json tests/npm
	cd tests/npm && npm ci --ignore-scripts --no-audit --no-fund
clean-local: npm-clean
npm-clean:
	rm -rf tests/npm/node_modules
	test . -ef $(srcdir) || rm -f tests/npm/package.json tests/npm/package-lock.json
# Of what they start, what is not built for every test.
list-clients:
	@echo $(CLIENT_TESTS)
.PHONY: npm npm-clean list-clients
