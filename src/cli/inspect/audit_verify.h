/* SPDX-License-Identifier: MIT
 * Checks the chain of an audit log, as the plugin audit writes it: every record carries the hash
 * of the one before it and of itself. Reads files only; any thread. */
#ifndef CLI_INSPECT_AUDIT_VERIFY_H
#define CLI_INSPECT_AUDIT_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/sys/err.h"

/* Longest record that is read; what the plugin writes is far below. */
#define AUDIT_MAX_LINE ((size_t)16 << 20)

/* What a good result does not prove; to be printed with it. */
#define AUDIT_NOTE                                                                                 \
    "note: the chain detects changed and removed records, but not records cut off at its end; "    \
    "compare seq and head with a copy stored elsewhere."

/* State of a verification. Start with all zero; pass the same one for the files of a rotated set,
 * oldest first, and the chain is followed across them. */
struct audit_verify_report {
    uint64_t files, records;
    uint64_t first_seq, last_seq;
    uint64_t lost; /* events that the log itself says it could not write */
    char head[65]; /* SHA-256 of the last good record, hex: what an anchor would keep */
    bool bad;
    uint64_t bad_seq; /* the first record that is changed, missing or out of place */
};

/* Reads one file. 0: the chain holds. -1 with err (place file:line): it is broken (report->bad)
 * or the file cannot be read (not bad). Nothing is read once a report is bad. */
int audit_verify_file(const char *path, struct audit_verify_report *report,
                      struct tc_err *err) MUST_CHECK;

#endif
