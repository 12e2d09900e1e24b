/* SPDX-License-Identifier: MIT
 * Failed assertion: formats the message in a buffer on the stack, and aborts. */
#include "base/invariant.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct assert_line {
    char text[512];
    size_t len;
};

/* Leaves room for the end of the line. */
static void assert_add_bytes(struct assert_line *l, const char *p, size_t n, size_t spare)
{
    const size_t room = sizeof l->text - spare - l->len;
    n = n < room ? n : room;
    memcpy(l->text + l->len, p, n);
    l->len += n;
}

static void assert_add_text(struct assert_line *l, const char *text, size_t spare)
{
    assert_add_bytes(l, text, strlen(text), spare);
}

static void assert_add_number(struct assert_line *l, unsigned long n)
{
    char digits[24];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    assert_add_bytes(l, digits + at, sizeof digits - at, 0);
}

/* Path relative to the root of the source tree, whatever the build directory. */
static const char *assert_file_name(const char *file)
{
    const char *const src = strstr(file, "src/");
    return src ? src : file;
}

void assert_fail(const char *condition, const char *file, int line)
{
    struct assert_line l = {.len = 0};
    assert_add_text(&l, ASSERT_PREFIX " at ", 0);
    assert_add_text(&l, assert_file_name(file), 300);
    assert_add_text(&l, ":", 0);
    assert_add_number(&l, (unsigned long)line);
    assert_add_text(&l, ": ", 0);
    assert_add_text(&l, condition, 64);
    assert_add_text(&l, " (process ", 0);
    assert_add_number(&l, (unsigned long)getpid());
    assert_add_text(&l, ")\n", 0);
    if (write(STDERR_FILENO, l.text, l.len) < 0)
        abort();
    abort();
}
