/* SPDX-License-Identifier: MIT
 * Visibility of agents in the format that agenticore uses without Redis: the file
 * DIRECTORY/AGENT.json, a JSON object of five booleans (stream_config.py of
 * The-Cloud-Clock-Work/agenticore 1.9.0, where DIRECTORY is ~/.agenticore/stream_config). Any
 * thread; calls block on the file system. */
#ifndef CORE_SETTINGS_VISIBILITY_FILE_H
#define CORE_SETTINGS_VISIBILITY_FILE_H

#include "base/attr.h"
#include "base/sys/err.h"
#include "core/settings/visibility_sqlite.h"

/* 1: read; row->saved_ms is the time of the file; 0: no file; -1 with err: unreadable, or not such
 * an object. */
int visibility_file_read(const char *directory, const char *agent, struct visibility_row *row,
                         struct tc_err *err) MUST_CHECK;
/* Replaces the file atomically, with mode 0600. Creates the directory (0700), but not its
 * parent. */
int visibility_file_write(const char *directory, const char *agent, struct visibility shown,
                          struct tc_err *err) MUST_CHECK;

#endif
