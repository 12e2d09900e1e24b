# SPDX-License-Identifier: MIT
# The connector exec with programs in a real host, and the examples of all languages.

EXEC_TESTS = tests/exec/t_chat.py tests/exec/t_chat_full.py tests/exec/t_examples.py tests/exec/t_exec.py tests/exec/t_http.py \
	tests/exec/t_manual.py tests/exec/t_window.py
LENGTHY += $(EXEC_TESTS)
EXTRA_DIST += $(EXEC_TESTS) tests/exec/chatroom.py tests/exec/echo.py tests/exec/fullroom.py tests/exec/post.py tests/exec/program.py tests/exec/room.py tests/exec/schema.py
$(EXEC_TESTS:.py=.log): turncast$(EXEEXT) $(UNITS) $(plugin_LTLIBRARIES) \
	tests/fake/asker$(EXEEXT) tests/fake/talker$(EXEEXT)
