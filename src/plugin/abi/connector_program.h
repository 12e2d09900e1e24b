/* SPDX-License-Identifier: MIT
 * How the program is called in which plugins are loaded, and nothing else of the host is:
 *   turncast-connector INSTANCE HOST-PID VERSION            one instance (child.h)
 *   turncast-connector --probe HOST-PID VERSION FILE…       files are tried (probe_process.h)
 * Version: of this package; one that was installed in its place meanwhile does not begin. */
#ifndef PLUGIN_ABI_CONNECTOR_PROGRAM_H
#define PLUGIN_ABI_CONNECTOR_PROGRAM_H

#define CONNECTOR_PROGRAM "turncast-connector"
#define CONNECTOR_VARIABLE "TURNCAST_CONNECTOR" /* of the environment: where it is (libexec.h) */
#define CONNECTOR_PROBE "--probe"               /* the name of no instance */
#define CONNECTOR_FIXED_ARGS 4                  /* in front of the files */

#endif
