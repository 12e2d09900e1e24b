# SPDX-License-Identifier: MIT
libtcapi_a_SOURCES += \
	src/api/ag_ui/ag_ui_endpoint.c \
	src/api/ag_ui/ag_ui_resume.c \
	src/api/ag_ui/ag_ui_resume.h \
	src/api/ag_ui/ag_ui_run_input.c \
	src/api/ag_ui/ag_ui_run_input.h \
	src/api/ag_ui/ag_ui_runs.c \
	src/api/ag_ui/ag_ui_runs.h \
	src/api/ag_ui/ai_sdk_input.c \
	src/api/ag_ui/ai_sdk_input.h
