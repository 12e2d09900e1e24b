/* SPDX-License-Identifier: MIT
 * Log writer: one line per message, text or JSON, to one descriptor. Escapes control characters
 * and masks registered secrets. Thread-safe; failed writes are counted and otherwise ignored. */
#ifndef BASE_SYS_LOG_H
#define BASE_SYS_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/buf.h"
#include "base/str.h"

enum log_level { LOG_ERR = 3, LOG_WARN = 4, LOG_INFO = 6, LOG_DEBUG = 7 }; /* syslog numbers */
enum log_format { LOG_TEXT, LOG_JSON };

/* Process-wide; any time. Default: text, LOG_WARN, fd 2. Does not own fd. */
void log_setup(enum log_format format, enum log_level max, int fd);
/* On a terminal where a connector keeps live rows below the cursor, each line first clears the
 * screen below the cursor; the connector draws its rows again. Not while another process group has
 * the terminal. Default: off. */
void log_set_clears_below(bool on);
bool log_enabled(enum log_level level);
/* Logs one line. `name` is its source ("host", "instance cli"…). Control characters, C1, bidi
 * controls and U+2028/9 of the text are escaped; secrets are masked. A failed write is counted
 * and never reported otherwise. */
void log_write(enum log_level level, const char *name, const char *fmt, ...)
    __attribute__((__format__(__printf__, 3, 4)));
/* Passes each message of any level to `to` instead of writing it, neither escaped nor masked; NULL:
 * writes again. For tests of connectors. */
void log_divert(void (*to)(void *ctx, enum log_level level, const char *name, const char *text),
                void *ctx);
/* Number of lines that could not be written since the start. */
uint64_t log_lost_count(void);

/* Registers a secret of at least 8 bytes (shorter ones would mask ordinary text): from then on, its
 * exact, percent-encoded and base64 forms are masked everywhere. */
void log_add_secret(const char *secret);
/* Removes one registration. */
void log_remove_secret(const char *secret);
/* Appends text with every registered secret and every token-like string (bot<digits>:…, xox?-…,
 * sk-…, "Bearer …" and "Authorization: …" values) as "***". All text for logs, errors and audit
 * lines passes through this function. */
void log_redact(struct buf *out, struct str text);
/* Forgets all secrets (tests, end of process). */
void log_forget_secrets(void);

#endif
