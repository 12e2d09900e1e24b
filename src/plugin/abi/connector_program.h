/* SPDX-License-Identifier: MIT
 * Command line and environment of the helper program turncast-connector. */
#ifndef PLUGIN_ABI_CONNECTOR_PROGRAM_H
#define PLUGIN_ABI_CONNECTOR_PROGRAM_H

#define CONNECTOR_PROGRAM "turncast-connector"
#define CONNECTOR_VARIABLE "TURNCAST_CONNECTOR" /* of the environment: where it is (libexec.h) */
#define CONNECTOR_PROBE "--probe"               /* the name of no instance */
#define CONNECTOR_FIXED_ARGS 4                  /* in front of the files */

#endif
