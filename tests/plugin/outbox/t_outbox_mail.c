/* SPDX-License-Identifier: MIT
 * Tests of e-mails that the host composes from the parts of a request: headers, encodings, bodies,
 * refusals. */
#include <string.h>

#include "plugin/outbox/outbox_mail.h"
#include "tap/tap.h"

static const struct httpc_header envelope[] = {
    {"X-SMTP-From", "bot@example.org"},
    {"X-SMTP-To", "ann@example.org"},
    {"X-SMTP-To", "bob@example.org"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define WRITE(out, parts) outbox_mail_write((out), (parts), COUNT(parts), envelope, 3)
#define BODY                                                                                       \
    {                                                                                              \
        .name = "text", .type = "text/plain", .data = "x", .len = 1                                \
    }

static void check_mail(const struct tc_part *parts, size_t count, const char *wanted,
                       const char *what)
{
    CLEANUP_BUF struct buf out = {0};
    struct tc_part sized[8];
    for (size_t i = 0; i < count; i++) {
        sized[i] = parts[i];
        sized[i].len = strlen(parts[i].data);
    }
    const char *const why = outbox_mail_write(&out, sized, count, envelope, 3);
    is_str(why ? why : out.p, wanted, "%s", what);
}

static void test_message(void)
{
    static const struct tc_part parts[] = {
        {.name = "Date", .data = "1790001000"},
        {.name = "From", .data = "turncast"},
        {.name = "Subject", .data = "ops: done"},
        {.name = "Message-ID", .data = "outcome 1"},
        {.name = "References", .data = "conversation 7"},
        {.data = "kept, but not sent"},
        {.name = "text", .type = "text/plain", .data = "a=b\nend \n\n.\xc3\xa9"},
    };
    check_mail(parts, COUNT(parts),
               "Date: Mon, 21 Sep 2026 14:30:00 +0000\r\n"
               "From: turncast\r\n <bot@example.org>\r\n"
               "Subject: ops: done\r\n"
               "Message-ID: <f64df351468274474e1e23f08f162538@example.org>\r\n"
               "References: <65fb64155a83cc2f2464c94cd256f7b5@example.org>\r\n"
               "To: <ann@example.org>,\r\n <bob@example.org>\r\n"
               "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
               "Content-Type: text/plain; charset=utf-8\r\n"
               "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
               "a=3Db\r\nend=20\r\n\r\n.=C3=A9",
               "an e-mail with one body");
}

static void test_alternatives(void)
{
    static const struct tc_part parts[] = {
        {.name = "text", .type = "text/plain", .data = "a"},
        {.name = "html", .type = "text/html", .data = "<p>a</p>"},
    };
    check_mail(parts, COUNT(parts),
               "To: <ann@example.org>,\r\n <bob@example.org>\r\n"
               "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
               "Content-Type: multipart/alternative; boundary=\"=_turncast\"\r\n\r\n"
               "--=_turncast\r\n"
               "Content-Type: text/plain; charset=utf-8\r\n"
               "Content-Transfer-Encoding: quoted-printable\r\n\r\na\r\n"
               "--=_turncast\r\n"
               "Content-Type: text/html; charset=utf-8\r\n"
               "Content-Transfer-Encoding: quoted-printable\r\n\r\n<p>a</p>\r\n"
               "--=_turncast--\r\n",
               "an e-mail with plain text and HTML");
}

/* Checks the lines of the header up to the next header. */
static void check_subject(const char *text, const char *wanted, const char *what)
{
    CLEANUP_BUF struct buf out = {0};
    const struct tc_part parts[] = {{.name = "Subject", .data = text, .len = strlen(text)}, BODY};
    is_str(WRITE(&out, parts), NULL, "%s", what);
    char *const end = strstr(out.p, "\r\nTo: ");
    *end = '\0';
    is_str(out.p, wanted, "%s", what);
}

static void test_headers(void)
{
    check_subject(
        "Gr\xc3\xb6\xc3\x9f"
        "e 1",
        "Subject: =?UTF-8?Q?Gr=C3=B6=C3=9Fe_1?=", "a subject with characters outside of ASCII");
    check_subject("a\r\nBcc: x@y",
                  "Subject: =?UTF-8?Q?a__Bcc=3A_x=40y?=", "a subject with a line break");
    check_subject("=?UTF-8?Q?x?=", "Subject: =?UTF-8?Q?=3D=3FUTF=2D8=3FQ=3Fx=3F=3D?=",
                  "a subject that looks encoded");
    check_subject(
        "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggghhhhhhhhhh",
        "Subject: =?UTF-8?Q?aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffff?=\r\n"
        " =?UTF-8?Q?ffffffgggggggggghhhhhhhhhh?=",
        "a long subject is folded");
    check_subject("", "Subject: ", "an empty subject");
}

static size_t longest_line(const char *text)
{
    size_t most = 0;
    for (const char *p = text; *p; p += strcspn(p, "\r\n"), p += strspn(p, "\r\n"))
        most = strcspn(p, "\r\n") > most ? strcspn(p, "\r\n") : most;
    return most;
}

static void test_lines(void)
{
    static char text[3001];
    CLEANUP_BUF struct buf out = {0};
    for (size_t i = 0; i + 1 < sizeof text; i += 3)
        memcpy(text + i, i % 2 ? "\xe2\x82\xac" : "ab ", 3);
    const struct tc_part parts[] = {
        {.name = "Subject", .data = text, .len = 3000},
        {.name = "From", .data = text, .len = 3000},
        {.name = "text", .type = "text/plain", .data = text, .len = 3000},
    };
    is_str(WRITE(&out, parts), NULL, "a long subject and body are accepted");
    ok(longest_line(out.p) <= 78, "no line is longer than 78 bytes: %zu", longest_line(out.p));
    ok(longest_line(out.p) >= 74, "long texts fill the lines: %zu", longest_line(out.p));
}

static void test_refused(void)
{
    static const struct tc_part unknown[] = {{.name = "Bcc", .data = "x", .len = 1}, BODY};
    static const struct tc_part none[] = {{.name = "Subject", .data = "x", .len = 1}};
    static const struct tc_part file[] = {
        {.name = "f", .file_name = "a.txt", .type = "text/plain", .data = "x", .len = 1}};
    static const struct tc_part image[] = {
        {.name = "f", .type = "image/png", .data = "x", .len = 1}};
    static const struct tc_part nul[] = {{.name = "Subject", .data = "a\0b", .len = 3}, BODY};
    CLEANUP_BUF struct buf out = {0};
    is_str(WRITE(&out, unknown), "an e-mail has an unknown header", "an unknown header is refused");
    is_str(WRITE(&out, none), "an e-mail has no body", "a missing body is refused");
    is_str(WRITE(&out, file), "a body of an e-mail must be a text", "a file is refused");
    is_str(WRITE(&out, image), "a body of an e-mail must be a text", "an image is refused");
    is_str(WRITE(&out, nul), "a part of an e-mail has a NUL byte", "a NUL byte is refused");
}

int main(void)
{
    plan_lazy();
    test_message();
    test_alternatives();
    test_headers();
    test_lines();
    test_refused();
    return 0;
}
