# SPDX-License-Identifier: MIT
# The live page: served unchanged, without a build step.

pagedir = $(pkgdatadir)/page
dist_page_DATA = \
	share/page/index.html share/page/style.css share/page/icon.svg \
	share/page/answer.mjs share/page/api.mjs share/page/composer.mjs share/page/connection.mjs \
	share/page/copy.mjs \
	share/page/dom.mjs share/page/format.mjs share/page/frame.mjs share/page/inline.mjs \
	share/page/list.mjs share/page/login.mjs share/page/main.mjs share/page/markdown.mjs \
	share/page/narration.mjs share/page/notice.mjs share/page/outcome.mjs share/page/prose.mjs \
	share/page/request.mjs share/page/reveal.mjs share/page/sse.mjs share/page/state.mjs share/page/stream.mjs \
	share/page/tail.mjs share/page/thought.mjs share/page/ticker.mjs share/page/timeline.mjs \
	share/page/tool.mjs share/page/turn.mjs share/page/turns.mjs share/page/usage.mjs \
	share/page/value.mjs
