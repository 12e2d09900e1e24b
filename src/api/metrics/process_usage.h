/* SPDX-License-Identifier: MIT
 * CPU time, resident memory and open files of this process. */
#ifndef API_METRICS_PROCESS_USAGE_H
#define API_METRICS_PROCESS_USAGE_H

struct process_usage {
    double cpu_s;
    double resident_bytes; /* negative: unknown, as below */
    double open_files;
};

struct process_usage process_usage_read(void);

#endif
