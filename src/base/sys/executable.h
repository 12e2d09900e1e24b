/* SPDX-License-Identifier: MIT
 * Finds the file of a program. Any thread. */
#ifndef BASE_SYS_EXECUTABLE_H
#define BASE_SYS_EXECUTABLE_H

/* The executable file for a name: the name itself if it has a slash, otherwise the first match in
 * `directories`, separated by colons. Owned; NULL: none that this user can execute. */
char *executable_find(const char *name, const char *directories);

#endif
