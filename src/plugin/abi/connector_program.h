/* SPDX-License-Identifier: MIT
 * Command line and environment of the helper program turncast-connector. */
#ifndef PLUGIN_ABI_CONNECTOR_PROGRAM_H
#define PLUGIN_ABI_CONNECTOR_PROGRAM_H

#define CONNECTOR_PROGRAM "turncast-connector"
/* Environment variable with its path (libexec.h). */
#define CONNECTOR_VARIABLE "TURNCAST_CONNECTOR"
#define CONNECTOR_PROBE "--probe" /* not a valid name of an instance */
#define CONNECTOR_FIXED_ARGS 4    /* precedes the files */

#endif
