/* SPDX-License-Identifier: MIT
 * What this process uses of the machine. */
#ifndef API_METRICS_PROCESS_USAGE_H
#define API_METRICS_PROCESS_USAGE_H

struct process_usage {
    double cpu_s;
    double resident_bytes; /* negative: not known, as below */
    double open_files;
};

struct process_usage process_usage_read(void);

#endif
