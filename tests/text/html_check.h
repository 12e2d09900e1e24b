/* SPDX-License-Identifier: MIT
 * Strict checker of HTML pieces: well-formed, with permitted elements and attributes only. */
#ifndef TESTS_HTML_CHECK_H
#define TESTS_HTML_CHECK_H

/* Returns NULL, or a description of the error (static). */
const char *html_check(const char *html);

#endif
