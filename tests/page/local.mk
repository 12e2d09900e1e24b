# SPDX-License-Identifier: MIT
# The live page: its pure parts in node, all of it in Chromium. Packages come from tests/npm.

CLIENT_TESTS += tests/page/units.t tests/page/page.t tests/page/serve.t
EXTRA_DIST += tests/page/units.t tests/page/units.mjs tests/page/page.t tests/page/page.mjs \
	tests/page/serve.t tests/page/serve.mjs tests/page/host.mjs tests/page/agent.mjs \
	tests/page/browser.mjs tests/page/corpus.mjs tests/page/mock.mjs tests/page/story.mjs \
	tests/page/tap.mjs tests/page/wire.mjs
clean-local: page-clean
page-clean:
	rm -rf tests/page/screens
.PHONY: page-clean

# Programs that they start.
$(CLIENT_TESTS:.t=.log): tests/fake/agent$(EXEEXT) tests/fake/asker$(EXEEXT) tests/fake/talker$(EXEEXT)
