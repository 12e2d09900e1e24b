/* SPDX-License-Identifier: MIT
 * Verifies the hash chain of an audit log as written by the plugin audit: every record contains its
 * own hash and that of the previous record. Reads files only; any thread. */
#ifndef CLI_INSPECT_AUDIT_VERIFY_H
#define CLI_INSPECT_AUDIT_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/sys/err.h"

/* Longest accepted record; the plugin writes much shorter ones. */
#define AUDIT_MAX_LINE ((size_t)16 << 20)

/* Limits of a verification; print this text with a good result. */
#define AUDIT_NOTE                                                                                 \
    "note: the chain detects changed and removed records, but not records cut off at its end; "    \
    "compare seq and head with a copy stored elsewhere."

/* State of a verification. Initialise with zeros. To verify a rotated set, pass the same struct for
 * each file, oldest first. */
struct audit_verify_report {
    uint64_t files, records;
    uint64_t first_seq, last_seq;
    uint64_t lost; /* events that, according to the log, could not be written */
    char head[65]; /* SHA-256 of the last good record, hex; to be stored elsewhere as an anchor */
    bool bad;
    uint64_t bad_seq; /* the first record that is changed, missing or misplaced */
};

/* Verifies one file. 0: the chain is intact. -1 with err (place file:line): the chain is broken
 * (report->bad), or the file cannot be read (not bad). Does nothing if the report is already
 * bad. */
int audit_verify_file(const char *path, struct audit_verify_report *report,
                      struct tc_err *err) MUST_CHECK;

#endif
