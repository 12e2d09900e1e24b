# SPDX-License-Identifier: MIT
# What a person sees on a terminal, in tmux.

SCREEN_TESTS = tests/terminal/t_screens.py tests/terminal/t_windows.py
dist_check_SCRIPTS += $(SCREEN_TESTS)
$(SCREEN_TESTS:.py=.log): $(CLI_TEST_NEEDS)
EXTRA_DIST += tests/terminal/screen.py tests/terminal/screens \
	tests/terminal/diff.jsonl tests/terminal/markdown.jsonl tests/terminal/retries.jsonl \
	tests/terminal/subagent.jsonl tests/terminal/table.jsonl tests/terminal/todo.jsonl
