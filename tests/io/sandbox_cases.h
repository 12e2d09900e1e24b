/* SPDX-License-Identifier: MIT
 * The attempts that the test of the sandbox makes inside of it: a table of those that the sandbox
 * must refuse, and one of those that must succeed. */
#ifndef TESTS_IO_SANDBOX_CASES_H
#define TESTS_IO_SANDBOX_CASES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define REFUSALS 36
#define NEEDS 21

/* Files and ports that the test prepares for the child. */
struct sandbox_place {
    const char *root;               /* the child may access nothing in it except: */
    char *state, *more, *shown;     /* two writable folders, a readable file */
    char *library, *link;           /* a file of read_files, and a link beside it that points to the
                                     * secret */
    char *full;                     /* a folder in which files may only be removed; it contains
                                     * "old" */
    int given;                      /* the descriptor of read_fd; its file is in root */
    char *secret, *service;         /* mode 0600; a listening socket */
    uint16_t open_port, other_port; /* both listen; only the first is declared */
    pid_t parent;
};

/* Returns 0 or the errno. */
typedef int sandbox_attempt(const struct sandbox_place *here);

/* Whether the filter of system calls refuses the attempt; OLD: only with a version of Landlock that
 * does not refuse it. */
enum sandbox_filtered { NO, YES, OLD };
enum sandbox_anyway {
    LASTS,
    BITES
}; /* when nothing refuses the attempt: it may fail all the same;
    * it succeeds */

extern const struct sandbox_refusal {
    const char *name;
    sandbox_attempt *try;
    int landlock; /* the first version that refuses it; 0: none */
    enum sandbox_filtered seccomp;
    enum sandbox_anyway anyway;
} sandbox_refusals[REFUSALS];

extern const struct sandbox_need {
    const char *name;
    sandbox_attempt *try;
} sandbox_needs[NEEDS];

/* Whether the attempt was refused by a permission. */
bool sandbox_is_refusal(int error);
/* Helpers of attempts: the errno of a return value, of a descriptor (closed), a path (static), a
 * connection. */
int sandbox_came(long rc);
int sandbox_came_fd(int fd);
char *sandbox_below(const char *folder, const char *name);
int sandbox_connect(uint16_t port);

#endif
