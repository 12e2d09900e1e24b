/* SPDX-License-Identifier: MIT
 * Makes a project directory of a template (share/new): copies its files and replaces @NAME@,
 * @DIRECTORY@ (absolute), @CD@ (the directory as a word for a shell) and @PKGCONFIG@ (where
 * turncast.pc was installed). */
#ifndef CLI_CREATE_PROJECT_H
#define CLI_CREATE_PROJECT_H

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/sys/err.h"

#define PROJECT_NEXT "NEXT" /* of a template: the commands to type next */

struct project_spec {
    const char *name;      /* checked: [a-z][a-z0-9_-]* */
    const char *directory; /* to be made; it must not exist */
    const char *template;  /* folder of the template */
};

/* `next` receives the text of NEXT. -1 with err: nothing was made. */
int project_create(const struct project_spec *spec, struct buf *next,
                   struct tc_err *err) MUST_CHECK;

#endif
