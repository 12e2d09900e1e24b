/* SPDX-License-Identifier: MIT
 * Finds the file of a program. Any thread. */
#ifndef BASE_SYS_EXECUTABLE_H
#define BASE_SYS_EXECUTABLE_H

/* The file that is run for a name: itself if it has a slash, else the first one in `directories`,
 * which are separated by colons. Owned; NULL: there is none that this user can run. */
char *executable_find(const char *name, const char *directories);

#endif
