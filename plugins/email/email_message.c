/* SPDX-License-Identifier: MIT
 * Composes e-mails (RFC 5322, MIME): headers in ASCII with encoded words, the text as it is and as
 * HTML, both in quoted-printable. No value can end its header, and no line is longer than 78 bytes.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "email.h"

#define SUBJECT_MAX ((size_t)160)       /* bytes */
#define SECTION_MAX ((size_t)256 << 10) /* bytes of one section */
#define WORD_MAX 63                     /* of an encoded word: 75 without its frame */
#define LINE_MAX_QP 75                  /* of quoted-printable: 76 with the soft line break */
#define ID_DIGITS 32
#define MARK_MAX 24 /* of the mark of a repeat, with the blank behind it */
#define SUBJECT "Subject: "

/* ---- encodings ---- */

static size_t char_len(const char *p)
{
    size_t n = 1;
    while (((unsigned char)p[n] & 0xC0) == 0x80)
        n++;
    return n;
}

static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return !strstr(text, "=?");
}

static void write_escaped(FILE *to, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(to, "=%02X", (unsigned char)p[i]);
}

/* The text of a header: as it is, or as encoded words (RFC 2047). Whatever ends a line becomes a
 * blank. `used`: bytes of the line that stand before it. */
static void write_words(FILE *to, const char *text, size_t used)
{
    const size_t len = strlen(text);
    size_t room = 0;
    if (is_plain(text, len) && used + len <= LINE_MAX_QP) {
        fputs(text, to);
        return;
    }
    for (size_t i = 0, n; i < len; i += n) {
        n = char_len(text + i);
        const bool is_alnum = n == 1 && isalnum((unsigned char)text[i]);
        const bool is_blank = (unsigned char)text[i] <= ' ' || text[i] == 0x7f;
        const size_t size = is_alnum || is_blank ? 1 : 3 * n;
        if (size > room) {
            fputs(i ? "?=\r\n =?UTF-8?Q?" : "=?UTF-8?Q?", to);
            room = WORD_MAX - (i ? 0 : used);
        }
        room -= size;
        if (is_blank)
            fputc('_', to);
        else if (is_alnum)
            fputc(text[i], to);
        else
            write_escaped(to, text + i, n);
    }
    fputs(len ? "?=" : "", to);
}

/* Quoted-printable; lines end with CRLF. */
static void write_quoted(FILE *to, const char *text)
{
    size_t used = 0;
    for (const char *p = text; *p; p++) {
        if (*p == '\n') {
            fputs("\r\n", to);
            used = 0;
            continue;
        }
        const bool is_last = p[1] == '\n' || !p[1];
        const bool as_is =
            (*p > ' ' && *p <= '~' && *p != '=') || ((*p == ' ' || *p == '\t') && !is_last);
        const size_t size = as_is ? 1 : 3;
        if (used + size > LINE_MAX_QP) {
            fputs("=\r\n", to);
            used = 0;
        }
        if (as_is)
            fputc(*p, to);
        else
            write_escaped(to, p, 1);
        used += size;
    }
}

/* ---- headers ---- */

static const char *make_id(const struct email_message *m, const char *about)
{
    const struct email_conf *const conf = m->turn->inst->conf;
    const char *const hash =
        tc_hmac_sha256(m->turn, conf->from, strlen(conf->from), about, strlen(about));
    return tc_sprint(m->turn, "<%.*s%s>", ID_DIGITS, hash ? hash : about, strchr(conf->from, '@'));
}

static void write_date(FILE *to, double seconds)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const time_t time = (time_t)seconds;
    struct tm tm = {0};
    gmtime_r(&time, &tm);
    fprintf(to, "Date: %.3s, %02d %.3s %d %02d:%02d:%02d +0000\r\n", days + 3 * tm.tm_wday,
            tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour, tm.tm_min,
            tm.tm_sec);
}

static void write_headers(FILE *to, const struct email_message *m)
{
    const struct email_conf *const conf = m->turn->inst->conf;
    const char *const thread =
        m->thread ? make_id(m, tc_sprint(m->turn, "conversation %s", m->thread)) : NULL;
    write_date(to, m->date);
    fputs("From: ", to);
    write_words(to, conf->name, 6);
    fprintf(to, "\r\n <%s>\r\nTo: ", conf->from);
    for (size_t i = 0; conf->to[i]; i++)
        fprintf(to, "%s<%s>", i ? ",\r\n " : "", conf->to[i]);
    fputs("\r\n" SUBJECT, to);
    write_words(to, tc_cut(m->turn, m->subject, SUBJECT_MAX), sizeof SUBJECT + MARK_MAX);
    fprintf(to, "\r\nMessage-ID: %s\r\n", make_id(m, m->id));
    if (thread)
        fprintf(to, "In-Reply-To: %s\r\nReferences: %s\r\n", thread, thread);
    fputs("Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n", to);
}

/* ---- bodies ---- */

static void write_html(FILE *to, const char *text)
{
    for (; *text; text++)
        if (*text == '<' || *text == '&')
            fputs(*text == '<' ? "&lt;" : "&amp;", to);
        else
            fputc(*text, to);
}

/* All pieces of a text in one form. */
static void write_pieces(FILE *to, struct tc_turn *turn, const char *markdown, enum tc_form form)
{
    size_t n = 0;
    const size_t len = strlen(tc_cut(turn, markdown, SECTION_MAX));
    const struct tc_piece *const pieces =
        tc_pieces(turn, TC_TEXT(.markdown = markdown, .len = len, .form = form), &n);
    for (size_t i = 0; pieces && i < n; i++)
        fprintf(to, "%.*s\n", (int)pieces[i].len, pieces[i].text);
    if (markdown[len])
        fputs("[…]\n", to);
}

int email_begin(struct email_message *m)
{
    m->text_file = open_memstream(&m->text, &m->text_len);
    m->html_file = open_memstream(&m->html, &m->html_len);
    if (m->text_file && m->html_file)
        return 0;
    free(email_end(m));
    return -1;
}

void email_add(struct email_message *m, const char *heading, const char *markdown)
{
    if (heading) {
        fprintf(m->text_file, "%s\n\n", heading);
        fputs("<p><b>", m->html_file);
        write_html(m->html_file, heading);
        fputs("</b></p>\n", m->html_file);
    }
    write_pieces(m->text_file, m->turn, markdown, TC_PLAIN);
    write_pieces(m->html_file, m->turn, markdown, TC_HTML);
    fputs("\n", m->text_file);
}

static void write_part(FILE *to, const char *type, const char *body)
{
    fprintf(to,
            "Content-Type: text/%s; charset=utf-8\r\nContent-Transfer-Encoding: "
            "quoted-printable\r\n\r\n",
            type);
    write_quoted(to, body);
}

/* The boundary cannot be in quoted-printable: there, "=" is before two digits or a line end. */
static void write_bodies(FILE *to, const struct email_message *m)
{
    const struct email_conf *const conf = m->turn->inst->conf;
    if (!conf->html) {
        write_part(to, "plain", m->text);
        return;
    }
    fputs("Content-Type: multipart/alternative; boundary=\"=_turncast\"\r\n\r\n--=_turncast\r\n",
          to);
    write_part(to, "plain", m->text);
    fputs("\r\n--=_turncast\r\n", to);
    write_part(to, "html", m->html);
    fputs("\r\n--=_turncast--\r\n", to);
}

char *email_end(struct email_message *m)
{
    char *all = NULL;
    size_t len = 0;
    bool is_whole = m->text_file && m->html_file;
    if (m->text_file)
        is_whole &= fclose(m->text_file) == 0;
    if (m->html_file)
        is_whole &= fclose(m->html_file) == 0;
    FILE *const to = is_whole ? open_memstream(&all, &len) : NULL;
    if (to) {
        write_headers(to, m);
        write_bodies(to, m);
        is_whole = fclose(to) == 0;
    }
    free(m->text);
    free(m->html);
    if (is_whole)
        return all;
    free(all);
    return NULL;
}

char *email_mark(const char *message, const char *mark)
{
    const char *const subject = strstr(message, "\r\n" SUBJECT);
    char *marked = NULL;
    if (subject &&
        asprintf(&marked, "%.*s%s %s", (int)(subject - message + (ptrdiff_t)sizeof SUBJECT + 1),
                 message, mark, subject + sizeof SUBJECT + 1) >= 0)
        return marked;
    return NULL;
}
