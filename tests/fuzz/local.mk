# SPDX-License-Identifier: MIT
# Fuzz targets: tests/fuzz/fuzz_x.c defines LLVMFuzzerTestOneInput, tests/fuzz/seeds/x/ holds the
# seeds. With --enable-fuzzing they are linked to libFuzzer (tools/check runs them); else to
# replay.c, which runs every seed once and prints TAP. Per target:
#	fuzz_targets += tests/fuzz/fuzz_x
#	tests_fuzz_fuzz_x_SOURCES = tests/fuzz/fuzz_x.c $(FUZZ_MAIN)
#	tests_fuzz_fuzz_x_LDADD = $(TEST_EVENT)
#	tests_fuzz_fuzz_x_LDFLAGS = $(FUZZ_LINK)
#	EXTRA_DIST += tests/fuzz/seeds/x
# `make fuzz` builds them only.

fuzz_targets =
FUZZ_LINK = $(AM_LDFLAGS) $(TC_FUZZ_LINK)
if FUZZING
FUZZ_MAIN =
EXTRA_PROGRAMS += $(fuzz_targets)
else
FUZZ_MAIN = tests/fuzz/replay.c
check_PROGRAMS += $(fuzz_targets)
endif
EXTRA_DIST += tests/fuzz/replay.c
fuzz_targets += tests/fuzz/fuzz_utf8
tests_fuzz_fuzz_utf8_SOURCES = tests/fuzz/fuzz_utf8.c $(FUZZ_MAIN)
tests_fuzz_fuzz_utf8_LDADD = $(TEST_BASE)
tests_fuzz_fuzz_utf8_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/utf8

fuzz_targets += tests/fuzz/fuzz_bus
tests_fuzz_fuzz_bus_SOURCES = tests/fuzz/fuzz_bus.c $(FUZZ_MAIN)
tests_fuzz_fuzz_bus_LDADD = $(TEST_CORE)
tests_fuzz_fuzz_bus_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/bus

fuzz: $(fuzz_targets)
.PHONY: fuzz

fuzz_targets += tests/fuzz/fuzz_codec
tests_fuzz_fuzz_codec_SOURCES = tests/fuzz/fuzz_codec.c $(FUZZ_MAIN)
tests_fuzz_fuzz_codec_LDADD = $(TEST_EVENT)
tests_fuzz_fuzz_codec_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/codec

fuzz_targets += tests/fuzz/fuzz_json
tests_fuzz_fuzz_json_SOURCES = tests/fuzz/fuzz_json.c tests/event/json_oracle.c \
	tests/event/json_oracle.h $(FUZZ_MAIN)
tests_fuzz_fuzz_json_LDADD = $(TEST_EVENT)
tests_fuzz_fuzz_json_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/json tests/fuzz/json.dict

fuzz_targets += tests/fuzz/fuzz_redact
tests_fuzz_fuzz_redact_SOURCES = tests/fuzz/fuzz_redact.c $(FUZZ_MAIN)
tests_fuzz_fuzz_redact_LDADD = $(TEST_BASE)
tests_fuzz_fuzz_redact_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/redact

fuzz_targets += tests/fuzz/fuzz_markdown
tests_fuzz_fuzz_markdown_SOURCES = tests/fuzz/fuzz_markdown.c $(TEXT_CHECK) $(FUZZ_MAIN)
tests_fuzz_fuzz_markdown_LDADD = $(TEST_TEXT)
tests_fuzz_fuzz_markdown_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/markdown

fuzz_targets += tests/fuzz/fuzz_guard
tests_fuzz_fuzz_guard_SOURCES = tests/fuzz/fuzz_guard.c tests/turn/drive.c tests/turn/drive.h \
	$(FUZZ_MAIN)
tests_fuzz_fuzz_guard_LDADD = libpromise.a $(TEST_TURN)
tests_fuzz_fuzz_guard_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/guard

fuzz_targets += tests/fuzz/fuzz_claude
tests_fuzz_fuzz_claude_SOURCES = tests/fuzz/fuzz_claude.c tests/dialect/cast.c \
	tests/dialect/cast.h $(FUZZ_MAIN)
tests_fuzz_fuzz_claude_LDADD = libpromise.a $(TEST_TURN)
tests_fuzz_fuzz_claude_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/claude tests/fuzz/claude.dict

fuzz_targets += tests/fuzz/fuzz_dialog
tests_fuzz_fuzz_dialog_SOURCES = tests/fuzz/fuzz_dialog.c $(FUZZ_MAIN)
tests_fuzz_fuzz_dialog_LDADD = $(TEST_TURN)
tests_fuzz_fuzz_dialog_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/dialog

# Streams of dialects.
FUZZ_STREAM = tests/fuzz/stream.c tests/fuzz/stream.h tests/dialect/rewrite.c \
	tests/dialect/rewrite.h
fuzz_targets += tests/fuzz/fuzz_rewrite
tests_fuzz_fuzz_rewrite_SOURCES = tests/fuzz/fuzz_rewrite.c $(FUZZ_STREAM) $(FUZZ_MAIN)
tests_fuzz_fuzz_rewrite_LDADD = libpromise.a $(TEST_TURN)
tests_fuzz_fuzz_rewrite_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/rewrite
fuzz_targets += tests/fuzz/fuzz_reasonix
tests_fuzz_fuzz_reasonix_SOURCES = tests/fuzz/fuzz_reasonix.c $(FUZZ_STREAM) $(FUZZ_MAIN)
tests_fuzz_fuzz_reasonix_LDADD = libpromise.a $(TEST_TURN)
tests_fuzz_fuzz_reasonix_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/reasonix
fuzz_targets += tests/fuzz/fuzz_ethos
tests_fuzz_fuzz_ethos_SOURCES = tests/fuzz/fuzz_ethos.c $(FUZZ_STREAM) $(FUZZ_MAIN)
tests_fuzz_fuzz_ethos_LDADD = libpromise.a $(TEST_TURN)
tests_fuzz_fuzz_ethos_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/ethos

fuzz_targets += tests/fuzz/fuzz_lines
tests_fuzz_fuzz_lines_SOURCES = tests/fuzz/fuzz_lines.c $(FUZZ_MAIN)
tests_fuzz_fuzz_lines_LDADD = libtap.a $(LINK_IO) libtcdialect.a $(LINK_EVENT)
tests_fuzz_fuzz_lines_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/lines

fuzz_targets += tests/fuzz/fuzz_dialects
tests_fuzz_fuzz_dialects_SOURCES = tests/fuzz/fuzz_dialects.c tests/dialect/cast.c \
	tests/dialect/cast.h $(FUZZ_MAIN)
tests_fuzz_fuzz_dialects_LDADD = libpromise.a $(TEST_TURN)
tests_fuzz_fuzz_dialects_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/dialects

fuzz_targets += tests/fuzz/fuzz_httpd
tests_fuzz_fuzz_httpd_SOURCES = tests/fuzz/fuzz_httpd.c $(FUZZ_MAIN)
tests_fuzz_fuzz_httpd_LDADD = libtap.a $(LINK_IO)
tests_fuzz_fuzz_httpd_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/httpd

fuzz_targets += tests/fuzz/fuzz_letter
tests_fuzz_fuzz_letter_SOURCES = tests/fuzz/fuzz_letter.c $(FUZZ_MAIN)
tests_fuzz_fuzz_letter_LDADD = $(TEST_PLUGIN)
tests_fuzz_fuzz_letter_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/letter

fuzz_targets += tests/fuzz/fuzz_chat
tests_fuzz_fuzz_chat_SOURCES = tests/fuzz/fuzz_chat.c $(FUZZ_MAIN)
tests_fuzz_fuzz_chat_LDADD = $(TEST_API)
tests_fuzz_fuzz_chat_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/chat

fuzz_targets += tests/fuzz/fuzz_descriptor
tests_fuzz_fuzz_descriptor_SOURCES = tests/fuzz/fuzz_descriptor.c $(FUZZ_MAIN)
tests_fuzz_fuzz_descriptor_LDADD = $(TEST_PLUGIN)
tests_fuzz_fuzz_descriptor_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/descriptor

fuzz_targets += tests/fuzz/fuzz_recovery
tests_fuzz_fuzz_recovery_SOURCES = tests/fuzz/fuzz_recovery.c $(FUZZ_MAIN)
tests_fuzz_fuzz_recovery_LDADD = libtap.a $(LINK_IO)
tests_fuzz_fuzz_recovery_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/recovery

fuzz_targets += tests/fuzz/fuzz_conf
tests_fuzz_fuzz_conf_SOURCES = tests/fuzz/fuzz_conf.c $(FUZZ_MAIN)
tests_fuzz_fuzz_conf_LDADD = $(TEST_CONF)
tests_fuzz_fuzz_conf_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/conf

fuzz_targets += tests/fuzz/fuzz_frames
tests_fuzz_fuzz_frames_SOURCES = tests/fuzz/fuzz_frames.c $(FUZZ_MAIN)
tests_fuzz_fuzz_frames_LDADD = $(TEST_PLUGIN)
tests_fuzz_fuzz_frames_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/frames

fuzz_targets += tests/fuzz/fuzz_policy
tests_fuzz_fuzz_policy_SOURCES = tests/fuzz/fuzz_policy.c $(FUZZ_MAIN)
tests_fuzz_fuzz_policy_LDADD = $(TEST_TURN)
tests_fuzz_fuzz_policy_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/policy

fuzz_targets += tests/fuzz/fuzz_chat_reply
tests_fuzz_fuzz_chat_reply_SOURCES = tests/fuzz/fuzz_chat_reply.c $(FUZZ_MAIN)
tests_fuzz_fuzz_chat_reply_LDADD = $(TEST_PLUGIN)
tests_fuzz_fuzz_chat_reply_LDFLAGS = $(FUZZ_LINK)
EXTRA_DIST += tests/fuzz/seeds/chat_reply
