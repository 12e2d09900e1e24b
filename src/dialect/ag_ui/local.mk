# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/ag_ui/ag_ui.c \
	src/dialect/ag_ui/ag_ui.h \
	src/dialect/ag_ui/ag_ui_check.c \
	src/dialect/ag_ui/ag_ui_check.h \
	src/dialect/ag_ui/ag_ui_end.c \
	src/dialect/ag_ui/ag_ui_state.c \
	src/dialect/ag_ui/ag_ui_text.c \
	src/dialect/ag_ui/ag_ui_tool.c \
	src/dialect/ag_ui/ag_ui_write.c \
	src/dialect/ag_ui/ag_ui_write.h \
	src/dialect/ag_ui/ag_ui_write_end.c \
	src/dialect/ag_ui/ag_ui_write_message.c \
	src/dialect/ag_ui/ag_ui_write_request.c \
	src/dialect/ag_ui/ag_ui_write_step.c \
	src/dialect/ag_ui/ag_ui_write_text.c \
	src/dialect/ag_ui/ag_ui_write_tool.c
