/* SPDX-License-Identifier: MIT
 * What the test of the sandbox tries inside: tables of what has to be refused, and of what has to
 * work. */
#ifndef TESTS_IO_SANDBOX_CASES_H
#define TESTS_IO_SANDBOX_CASES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define REFUSALS 36
#define NEEDS 21

/* What a child finds: made by the test before any of them. */
struct sandbox_place {
    const char *root;               /* nothing in it is the child's but: */
    char *state, *more, *shown;     /* two folders to write to, a file to read */
    char *library, *link;           /* a file of read_files, and a link there to the secret */
    char *full;                     /* a folder to remove files from; it has one, "old" */
    int given;                      /* the descriptor of read_fd; its file is in root */
    char *secret, *service;         /* 0600; a socket that listens */
    uint16_t open_port, other_port; /* both listen; the first is declared */
    pid_t parent;
};

/* 0, or the errno. */
typedef int sandbox_attempt(const struct sandbox_place *here);

/* Whether the filter of system calls refuses it; OLD: only beside a Landlock that does not know of
 * it. */
enum sandbox_filtered { NO, YES, OLD };
enum sandbox_anyway { LASTS, BITES }; /* without what refuses it: may be refused too; succeeds */

extern const struct sandbox_refusal {
    const char *name;
    sandbox_attempt *try;
    int landlock; /* the version that refuses it; 0: none */
    enum sandbox_filtered seccomp;
    enum sandbox_anyway anyway;
} sandbox_refusals[REFUSALS];

extern const struct sandbox_need {
    const char *name;
    sandbox_attempt *try;
} sandbox_needs[NEEDS];

/* Refused, not failed. */
bool sandbox_is_refusal(int error);
/* For attempts: of a return value, of a descriptor (closed), a path (static), a connection. */
int sandbox_came(long rc);
int sandbox_came_fd(int fd);
char *sandbox_below(const char *folder, const char *name);
int sandbox_connect(uint16_t port);

#endif
