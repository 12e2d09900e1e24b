/* SPDX-License-Identifier: MIT
 * Owns the form of e-mails. libcurl's MIME functions do not encode headers, so that only
 * quoted-printable would be theirs. */
#include "plugin/outbox/outbox_mail.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <nettle/hmac.h>

#define MAX_WORD 63 /* bytes of an encoded word: 75 without its frame */
#define MAX_LINE 75 /* bytes of a line of quoted-printable: 76 with the soft line break */
#define ID_BYTES 16
/* In no body: quoted-printable has "=" before digits and line ends. */
#define BOUNDARY "=_turncast"

struct mail {
    struct buf *out;
    const struct httpc_header *envelope;
    size_t envelope_count;
};

/* ---- encodings ---- */

static size_t mail_char_len(const char *p)
{
    size_t n = 1;
    while (((unsigned char)p[n] & 0xC0) == 0x80)
        n++;
    return n;
}

static void mail_add_escaped(struct buf *out, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "=%02X", (unsigned)(unsigned char)p[i]);
}

static bool mail_is_plain(const char *text)
{
    for (const char *p = text; *p; p++)
        if (*p < ' ' || *p > '~')
            return false;
    return !strstr(text, "=?");
}

/* Bytes of a character in an encoded word. What ends a line becomes a blank, written "_". */
static size_t mail_word_size(const char *p, size_t n)
{
    const unsigned char c = (unsigned char)*p;
    return n == 1 && (isalnum(c) || c <= ' ' || c == 0x7f) ? 1 : 3 * n;
}

/* Encoded words (RFC 2047) behind `used` bytes of a line. */
static void mail_add_words(struct buf *out, const char *text, size_t used)
{
    size_t room = 0, n;
    for (const char *p = text; *p; p += n) {
        n = mail_char_len(p);
        const size_t size = mail_word_size(p, n);
        if (size > room) {
            buf_add_str(out, p == text ? "=?UTF-8?Q?" : "?=\r\n =?UTF-8?Q?");
            room = MAX_WORD - (p == text ? used : 0);
        }
        room -= size;
        if (size > 1)
            mail_add_escaped(out, p, n);
        else
            buf_add_char(out, isalnum((unsigned char)*p) ? *p : '_');
    }
    buf_add_str(out, *text ? "?=" : "");
}

/* A text as it is, if it fits into the line behind `used` bytes. */
static void mail_add_text(struct buf *out, const char *text, size_t used)
{
    if (mail_is_plain(text) && used + strlen(text) <= MAX_LINE)
        buf_add_str(out, text);
    else
        mail_add_words(out, text, used);
}

static void mail_add_quoted(struct buf *out, const char *text)
{
    size_t used = 0;
    for (const char *p = text; *p; p++) {
        if (*p == '\n') {
            buf_add_str(out, "\r\n");
            used = 0;
            continue;
        }
        const bool is_last = p[1] == '\n' || !p[1];
        const bool as_is =
            (*p > ' ' && *p <= '~' && *p != '=') || ((*p == ' ' || *p == '\t') && !is_last);
        const size_t size = as_is ? 1 : 3;
        if (used + size > MAX_LINE) {
            buf_add_str(out, "=\r\n");
            used = 0;
        }
        if (as_is)
            buf_add_char(out, *p);
        else
            mail_add_escaped(out, p, 1);
        used += size;
    }
}

/* ---- headers ---- */

static const char *mail_find_sender(const struct mail *m)
{
    for (size_t i = 0; i < m->envelope_count; i++)
        if (strcasecmp(m->envelope[i].name, "X-SMTP-From") == 0)
            return m->envelope[i].value;
    return "";
}

static void mail_add_subject(const struct mail *m, const char *text)
{
    mail_add_text(m->out, text, strlen("Subject: "));
}

/* Writes the name, with the address of the sender on a separate line. */
static void mail_add_sender(const struct mail *m, const char *text)
{
    mail_add_text(m->out, text, strlen("From: "));
    buf_printf(m->out, "\r\n <%s>", mail_find_sender(m));
}

static void mail_add_date(const struct mail *m, const char *text)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const time_t time = (time_t)strtoll(text, NULL, 10);
    struct tm tm = {0};
    gmtime_r(&time, &tm);
    buf_printf(m->out, "%.3s, %02d %.3s %d %02d:%02d:%02d +0000", days + 3 * tm.tm_wday, tm.tm_mday,
               months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* An id of this text, which only the sender uses. */
static void mail_add_id(const struct mail *m, const char *text)
{
    const char *const sender = mail_find_sender(m), *const domain = strchr(sender, '@');
    struct hmac_sha256_ctx hmac;
    uint8_t digest[SHA256_DIGEST_SIZE];
    hmac_sha256_set_key(&hmac, strlen(sender), (const uint8_t *)sender);
    hmac_sha256_update(&hmac, strlen(text), (const uint8_t *)text);
    hmac_sha256_digest(&hmac, sizeof digest, digest);
    buf_add_char(m->out, '<');
    for (size_t i = 0; i < ID_BYTES; i++)
        buf_printf(m->out, "%02x", (unsigned)digest[i]);
    buf_printf(m->out, "%s>", domain ? domain : "@localhost");
}

struct mail_field {
    const char *name;
    void (*add)(const struct mail *m, const char *text);
};

static const struct mail_field *mail_find_header(const char *name)
{
    static const struct mail_field headers[] = {
        {"Date", mail_add_date},     {"From", mail_add_sender},    {"Subject", mail_add_subject},
        {"Message-ID", mail_add_id}, {"In-Reply-To", mail_add_id}, {"References", mail_add_id}};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (strcasecmp(headers[i].name, name) == 0)
            return &headers[i];
    return NULL;
}

static void mail_add_recipients(const struct mail *m)
{
    const char *before = "To: ";
    for (size_t i = 0; i < m->envelope_count; i++)
        if (strcasecmp(m->envelope[i].name, "X-SMTP-To") == 0) {
            buf_printf(m->out, "%s<%s>", before, m->envelope[i].value);
            before = ",\r\n ";
        }
    buf_add_str(m->out, "\r\n");
}

/* The header prevents automatic replies (RFC 3834). */
static const char *mail_add_headers(const struct mail *m, const struct tc_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct tc_part *const p = &parts[i];
        if (!p->name || p->type)
            continue;
        const struct mail_field *const header = mail_find_header(p->name);
        if (!header)
            return "an e-mail has an unknown header";
        buf_printf(m->out, "%s: ", header->name);
        header->add(m, p->data);
        buf_add_str(m->out, "\r\n");
    }
    mail_add_recipients(m);
    buf_add_str(m->out, "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n");
    return NULL;
}

/* ---- bodies ---- */

static bool mail_is_body(const struct tc_part *p)
{
    return p->name && p->type;
}

static void mail_add_body(const struct mail *m, const struct tc_part *p)
{
    buf_printf(m->out,
               "Content-Type: %s; charset=utf-8\r\n"
               "Content-Transfer-Encoding: quoted-printable\r\n\r\n",
               p->type);
    mail_add_quoted(m->out, p->data);
}

/* Writes alternative forms of the text: mail readers show the last form that they support. */
static void mail_add_bodies(const struct mail *m, const struct tc_part *parts, size_t count)
{
    const char *before = "";
    buf_add_str(m->out, "Content-Type: multipart/alternative; boundary=\"" BOUNDARY "\"\r\n\r\n");
    for (size_t i = 0; i < count; i++) {
        if (!mail_is_body(&parts[i]))
            continue;
        buf_printf(m->out, "%s--" BOUNDARY "\r\n", before);
        mail_add_body(m, &parts[i]);
        before = "\r\n";
    }
    buf_add_str(m->out, "\r\n--" BOUNDARY "--\r\n");
}

const char *outbox_mail_write(struct buf *out, const struct tc_part *parts, size_t count,
                              const struct httpc_header *envelope, size_t envelope_count)
{
    const struct mail m = {out, envelope, envelope_count};
    const struct tc_part *only = NULL;
    size_t bodies = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].name && memchr(parts[i].data, '\0', parts[i].len))
            return "a part of an e-mail has a NUL byte";
        if (!mail_is_body(&parts[i]))
            continue;
        if (parts[i].file_name || strncmp(parts[i].type, "text/", 5) != 0)
            return "a body of an e-mail must be a text";
        only = &parts[i];
        bodies++;
    }
    if (!only)
        return "an e-mail has no body";
    const char *const why = mail_add_headers(&m, parts, count);
    if (why)
        return why;
    if (bodies == 1)
        mail_add_body(&m, only);
    else
        mail_add_bodies(&m, parts, count);
    return NULL;
}
