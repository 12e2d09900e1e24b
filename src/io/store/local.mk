# SPDX-License-Identifier: MIT
libtcio_a_SOURCES += \
	src/io/store/backup.c \
	src/io/store/backup.h \
	src/io/store/backup_internal.h \
	src/io/store/backup_restore.c \
	src/io/store/sql.c \
	src/io/store/sql.h \
	src/io/store/sqlite_salvage.c \
	src/io/store/sqlite_salvage.h \
	src/io/store/store.c \
	src/io/store/store.h \
	src/io/store/store_dir.c \
	src/io/store/store_dir.h
