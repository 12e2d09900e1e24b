/* SPDX-License-Identifier: MIT
 * Command line and environment of the helper program turncast-script. The helper is a separate
 * program, because it replaces clocks of the C library for the connector that it loads. */
#ifndef CLI_TESTING_SCRIPT_PROGRAM_H
#define CLI_TESTING_SCRIPT_PROGRAM_H

/* [-o KEY=VALUE]... [-r RECORDING] MODULE.so [SCRIPT]... */
#define SCRIPT_PROGRAM "turncast-script"
#define SCRIPT_VARIABLE "TURNCAST_SCRIPT" /* environment variable with its path (libexec.h) */

#endif
