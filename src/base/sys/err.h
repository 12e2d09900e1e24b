/* SPDX-License-Identifier: MIT
 * Error with a place: position, problem and remedy. Filled by the function that detects the
 * error. */
#ifndef BASE_SYS_ERR_H
#define BASE_SYS_ERR_H

struct tc_err {
    char place[256]; /* "file:line" or the object; "" if none */
    char text[768];
};

/* Fills e (which may be NULL) and returns -1, so that a caller can say `return err_set(…)`.
 * `place` may be NULL. */
int err_set(struct tc_err *e, const char *place, const char *fmt, ...)
    __attribute__((__format__(__printf__, 3, 4)));
/* Like err_set, followed by ": " and the text of errno `no`. */
int err_set_errno(struct tc_err *e, int no, const char *place, const char *fmt, ...)
    __attribute__((__format__(__printf__, 4, 5)));
/* "place: text", or "text"; in a static buffer of the thread. */
const char *err_format(const struct tc_err *e);

#endif
