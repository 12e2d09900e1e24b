/* SPDX-License-Identifier: MIT
 * Prints findings, as lines or as one JSON object. Secrets are masked. */
#ifndef CLI_INSPECT_FINDING_REPORT_H
#define CLI_INSPECT_FINDING_REPORT_H

#include "base/sys/finding.h"

/* Prints one line per finding: "FILE:LINE: KEY: TEXT; REMEDY". */
void finding_report_print_lines(const struct findings *findings);
/* {"file", "ok", "warnings", "errors", "findings": [{"level", "file", "line", "key", "text",
 * "remedy"}]}; missing parts of a finding are null, and `file` is null if there is none. */
void finding_report_print_json(const struct findings *findings, const char *file);

#endif
