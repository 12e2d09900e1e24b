/* SPDX-License-Identifier: MIT
 * Creates a project directory from a template (share/new): copies its files and replaces @NAME@,
 * @DIRECTORY@ (absolute), @CD@ (the directory as a word for a shell) and @PKGCONFIG@ (where
 * turncast.pc was installed). */
#ifndef CLI_CREATE_PROJECT_H
#define CLI_CREATE_PROJECT_H

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/sys/err.h"

#define PROJECT_NEXT "NEXT" /* template file with the commands to type next */

struct project_spec {
    const char *name;      /* checked: [a-z][a-z0-9_-]* */
    const char *directory; /* to be created; must not exist */
    const char *template;  /* directory of the template */
};

/* `next` receives the text of NEXT. -1 with err: nothing was created. */
int project_create(const struct project_spec *spec, struct buf *next,
                   struct tc_err *err) MUST_CHECK;

#endif
