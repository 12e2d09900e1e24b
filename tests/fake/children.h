/* SPDX-License-Identifier: MIT
 * For tests that start processes: what is left of them, and of descriptors. */
#ifndef TESTS_FAKE_CHILDREN_H
#define TESTS_FAKE_CHILDREN_H

/* How many processes, zombies among them, have `mark` in their command line (a zombie has none:
 * every zombie child of this process counts). */
unsigned children_marked(const char *mark);
/* Open descriptors of this process. */
unsigned children_open_fds(void);
/* Path of the fake agent; static. */
const char *children_agent(void);
/* A word that no other process has in its command line; static until the next call. */
const char *children_mark(void);

#endif
