# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/budget/budget_day.c \
	src/core/budget/budget_day.h \
	src/core/budget/budget_text.c \
	src/core/budget/budget_text.h \
	src/core/budget/budgets.c \
	src/core/budget/budgets.h \
	src/core/budget/turn_spending.c \
	src/core/budget/turn_spending.h
