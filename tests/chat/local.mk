# SPDX-License-Identifier: MIT
# Tests of src/chat: scripts (turncast-test(7)) against a connector that describes a made-up
# service; the folder of a script names the kind of service.

chat_modules = tests/chat/chat_key.so tests/chat/chat_lookup.so tests/chat/chat_none.so \
	tests/chat/chat_stream.so tests/chat/chat_text.so tests/chat/chat_menu.so tests/chat/chat_fields.so \
	tests/chat/chat_html.so tests/chat/chat_brief.so tests/chat/chat_whole.so \
	tests/chat/chat_dialog.so tests/chat/chat_feed.so
CHAT_KEY = -DCHATBOX_IDEMPOTENCY=TC_IDEMPOTENCY_KEY -DCHATBOX_TYPING_MS=25000
CHAT_BRIEF = -DCHATBOX_IDEMPOTENCY=TC_IDEMPOTENCY_KEY -DCHATBOX_IDEMPOTENCY_MS=120000
CHAT_LOOKUP = -DCHATBOX_IDEMPOTENCY=TC_IDEMPOTENCY_LOOKUP
CHAT_STREAM = $(CHAT_LOOKUP) -DCHATBOX_TYPING_MS=25000 -DCHATBOX_LACKS='TC_CAN(TC_OP_MENU)'
CHAT_WHOLE = -DCHATBOX_STREAM_WHOLE=true -DCHATBOX_LACKS='TC_CAN(TC_OP_MENU)'
CHAT_HTML = -DCHATBOX_STREAM_FORM=TC_HTML -DCHATBOX_LACKS='TC_CAN(TC_OP_MENU)'
CHAT_TEXT = -DCHATBOX_INPUT=TC_INPUT_TEXT -DCHATBOX_CHAT_OPTION='"number"' -DCHATBOX_LACKS='(TC_CAN(TC_OP_EDIT) | TC_CAN(TC_OP_MENU) | CHATBOX_STREAMS)'
CHAT_MENU = -DCHATBOX_LACKS=CHATBOX_STREAMS -DCHATBOX_NO_BLANKS
CHAT_DIALOG = -DCHATBOX_INPUT=TC_INPUT_DIALOG -DCHATBOX_FORMS -DCHATBOX_LACKS=CHATBOX_STREAMS
CHAT_FEED = -DCHATBOX_FEED
CHAT_FIELDS = -DCHATBOX_INPUT=TC_INPUT_FIELDS -DCHATBOX_FORMS -DCHATBOX_LACKS=CHATBOX_STREAMS

$(chat_modules): tests/chat/chatbox.c $(turncastinclude_HEADERS)
	@$(MKDIR_P) $(@D)
	$(AM_V_CC)case $@ in \
		*_brief.so) set -- $(CHAT_BRIEF) ;; \
		*_key.so) set -- $(CHAT_KEY) ;; \
		*_lookup.so) set -- $(CHAT_LOOKUP) ;; \
		*_html.so) set -- $(CHAT_HTML) ;; \
		*_whole.so) set -- $(CHAT_WHOLE) ;; \
		*_stream.so) set -- $(CHAT_STREAM) ;; \
		*_text.so) set -- $(CHAT_TEXT) ;; \
		*_menu.so) set -- $(CHAT_MENU) ;; \
		*_dialog.so) set -- $(CHAT_DIALOG) ;; \
		*_feed.so) set -- $(CHAT_FEED) ;; \
		*_fields.so) set -- $(CHAT_FIELDS) ;; \
		*) set -- ;; \
		esac; $(FAULT_CC) "$$@" -o $@ $(srcdir)/tests/chat/chatbox.c

check_DATA += $(chat_modules)
EXTRA_DIST += tests/chat/chatbox.c
CLEANFILES += $(chat_modules)

CHAT_TESTS = \
	tests/chat/brief/doubt.script \
	tests/chat/dialog/card.script \
	tests/chat/dialog/inputs.script \
	tests/chat/feed/feed.script \
	tests/chat/feed/gap.script \
	tests/chat/fields/card.script \
	tests/chat/fields/menu.script \
	tests/chat/fields/word.script \
	tests/chat/html/stream.script \
	tests/chat/key/doubt.script \
	tests/chat/key/poll.script \
	tests/chat/key/typing.script \
	tests/chat/lookup/doubt.script \
	tests/chat/lookup/retry.script \
	tests/chat/menu/german.script \
	tests/chat/menu/menu.script \
	tests/chat/none/card.script \
	tests/chat/none/draft.script \
	tests/chat/none/files.script \
	tests/chat/none/footer.script \
	tests/chat/none/german.script \
	tests/chat/none/listed.script \
	tests/chat/none/live.script \
	tests/chat/none/mentioned.script \
	tests/chat/none/moved.script \
	tests/chat/none/outcome.script \
	tests/chat/none/parts.script \
	tests/chat/none/people.script \
	tests/chat/none/refused.script \
	tests/chat/none/retry.script \
	tests/chat/none/source.script \
	tests/chat/none/stop.script \
	tests/chat/none/whole.script \
	tests/chat/stream/limits.script \
	tests/chat/stream/outcome.script \
	tests/chat/stream/show.script \
	tests/chat/text/card.script \
	tests/chat/text/german.script \
	tests/chat/whole/stream.script
dist_check_SCRIPTS += $(CHAT_TESTS)
$(CHAT_TESTS:.script=.log): turncast-script$(EXEEXT)

check_PROGRAMS += tests/chat/t_chat_states
tests_chat_t_chat_states_SOURCES = tests/chat/t_chat_states.c tests/base/table_check.c tests/base/table_check.h
tests_chat_t_chat_states_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/chat/t_chat_options
tests_chat_t_chat_options_SOURCES = tests/chat/t_chat_options.c
tests_chat_t_chat_options_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/chat/t_chat_native
tests_chat_t_chat_native_SOURCES = tests/chat/t_chat_native.c
tests_chat_t_chat_native_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/chat/t_chat_model
tests_chat_t_chat_model_SOURCES = tests/chat/t_chat_model.c tests/chat/chat_model_stream.c tests/chat/chat_model.h
tests_chat_t_chat_model_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/chat/operation/t_chat_delivery tests/chat/operation/t_chat_record tests/chat/operation/t_chat_result \
	tests/chat/show/t_chat_text tests/chat/stream/t_chat_items
tests_chat_stream_t_chat_items_SOURCES = tests/chat/stream/t_chat_items.c
tests_chat_stream_t_chat_items_LDADD = $(TEST_PLUGIN)
tests_chat_operation_t_chat_delivery_SOURCES = tests/chat/operation/t_chat_delivery.c
tests_chat_operation_t_chat_delivery_LDADD = $(TEST_PLUGIN)
tests_chat_operation_t_chat_record_SOURCES = tests/chat/operation/t_chat_record.c
tests_chat_operation_t_chat_record_LDADD = $(TEST_PLUGIN)
tests_chat_operation_t_chat_result_SOURCES = tests/chat/operation/t_chat_result.c
tests_chat_operation_t_chat_result_LDADD = $(TEST_PLUGIN)
tests_chat_show_t_chat_text_SOURCES = tests/chat/show/t_chat_text.c
tests_chat_show_t_chat_text_LDADD = $(TEST_PLUGIN)
