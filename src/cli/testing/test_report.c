/* SPDX-License-Identifier: MIT
 * Writes TAP. */
#include "cli/testing/test_report.h"

#include <stdarg.h>
#include <string.h>

#include "base/bytes/buf.h"

static void test_report_escape(FILE *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == '#' || *p == '\\')
            fputc('\\', out);
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            fprintf(out, "\\x%02x", (unsigned)*p);
        else
            fputc(*p, out);
    }
}

void test_report_result(struct test_report *r, bool success, const char *title)
{
    r->failed += !success;
    fprintf(r->out, "%sok %u - ", success ? "" : "not ", ++r->run);
    test_report_escape(r->out, title);
    fputc('\n', r->out);
    fflush(r->out);
}

void test_report_note(struct test_report *r, const char *fmt, ...)
{
    CLEANUP_BUF struct buf text = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    char *rest = text.p;
    for (const char *line; rest && (line = strsep(&rest, "\n"));)
        if (*line || rest)
            fprintf(r->out, "# %s\n", line);
    fflush(r->out);
}

int test_report_finish(const struct test_report *r)
{
    fprintf(r->out, "1..%u\n", r->run);
    if (r->failed)
        fprintf(r->out, "# failed %u of %u\n", r->failed, r->run);
    fflush(r->out);
    return r->failed > 0;
}
