# SPDX-License-Identifier: MIT
# Tests of src/text/: as in tests/base/local.mk, with $(TEST_TEXT).

TEXT_SHOW = tests/text/text_show.c tests/text/text_show.h
check_PROGRAMS += tests/text/t_file_line
tests_text_t_file_line_LDADD = $(TEST_TEXT)
check_PROGRAMS += tests/text/t_text_clean
tests_text_t_text_clean_LDADD = $(TEST_TEXT)
check_PROGRAMS += tests/text/markdown/t_markdown
tests_text_markdown_t_markdown_SOURCES = tests/text/markdown/t_markdown.c $(TEXT_SHOW)
tests_text_markdown_t_markdown_LDADD = $(TEST_TEXT)
check_PROGRAMS += tests/text/render/t_render_telegram
tests_text_render_t_render_telegram_SOURCES = tests/text/render/t_render_telegram.c $(TEXT_SHOW)
tests_text_render_t_render_telegram_LDADD = $(TEST_TEXT)
check_PROGRAMS += tests/text/render/t_render_markup
tests_text_render_t_render_markup_SOURCES = tests/text/render/t_render_markup.c $(TEXT_SHOW)
tests_text_render_t_render_markup_LDADD = $(TEST_TEXT)
check_PROGRAMS += tests/text/sentence/t_texts
tests_text_sentence_t_texts_LDADD = $(TEST_TEXT)
check_PROGRAMS += tests/text/t_text_reveal
tests_text_t_text_reveal_LDADD = $(TEST_TEXT)
check_PROGRAMS += tests/text/t_link_url
tests_text_t_link_url_LDADD = $(TEST_TEXT)

TEXT_CHECK = tests/text/text_check.c tests/text/text_check.h tests/text/html_check.c \
	tests/text/html_check.h tests/text/terminal_check.c tests/text/terminal_check.h
check_PROGRAMS += tests/text/render/t_split
tests_text_render_t_split_SOURCES = tests/text/render/t_split.c $(TEXT_CHECK)
tests_text_render_t_split_LDADD = $(TEST_TEXT)
check_PROGRAMS += tests/text/t_text_random
tests_text_t_text_random_SOURCES = tests/text/t_text_random.c $(TEXT_CHECK)
tests_text_t_text_random_LDADD = $(TEST_TEXT)
check_PROGRAMS += tests/text/render/t_render_html
tests_text_render_t_render_html_SOURCES = tests/text/render/t_render_html.c $(TEXT_CHECK) $(TEXT_SHOW)
tests_text_render_t_render_html_LDADD = $(TEST_TEXT)
check_PROGRAMS += tests/text/render/t_render_terminal
tests_text_render_t_render_terminal_SOURCES = tests/text/render/t_render_terminal.c \
	tests/text/terminal_check.c tests/text/terminal_check.h
tests_text_render_t_render_terminal_LDADD = $(TEST_TEXT)
