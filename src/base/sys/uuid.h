/* SPDX-License-Identifier: MIT
 * Random ids of turns and sessions. */
#ifndef BASE_SYS_UUID_H
#define BASE_SYS_UUID_H

/* A random UUID (version 4) in its text form, NUL-terminated. */
void uuid_make(char out[37]);

#endif
