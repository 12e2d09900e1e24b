/* SPDX-License-Identifier: MIT
 * For tests that start processes: counts the processes and descriptors that are left. */
#ifndef TESTS_FAKE_CHILDREN_H
#define TESTS_FAKE_CHILDREN_H

/* Returns the number of processes with `mark` in their command line, and of zombie children of this
 * process, which have no command line. */
unsigned children_marked(const char *mark);
/* Returns the number of open descriptors of this process. */
unsigned children_open_fds(void);
/* Returns the path of the fake agent. */
const char *children_agent(void);
/* Returns a word that no other process has in its command line, valid until the next call. */
const char *children_mark(void);

#endif
