/* SPDX-License-Identifier: MIT
 * Validates e-mails, sends them with libcurl, and interprets the replies of the server. */
#include "io/http/client/httpc_mail.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define ADDRESS_MAX ((size_t)254)
#define RECIPIENTS_MAX 50
#define REPLY_MAX ((size_t)4 << 10) /* limit of a stored reply */
#define METHOD_LOGIN "NOOP"
#define QUIT_S 1L /* timeout of the reply to QUIT */
#define STATUS_BYE 221

enum mail_header { MAIL_FROM, MAIL_TO, MAIL_USER, MAIL_PASSWORD, MAIL_UNKNOWN };
static const char *const mail_headers[] = {"X-SMTP-From", "X-SMTP-To", "X-SMTP-User",
                                           "X-SMTP-Password"};

enum mail_phase {
    MAIL_OPEN,      /* the server has not received the end of the message */
    MAIL_SENT,      /* libcurl has received all of it */
    MAIL_CANCELLED, /* libcurl will not receive the rest */
    MAIL_ABANDONED, /* the worker owns the job; the result is ignored */
};

bool httpc_mail_is_url(const char *url)
{
    return strncasecmp(url, "smtp://", 7) == 0 || strncasecmp(url, "smtps://", 8) == 0;
}

/* ---- the request ---- */

static enum mail_header httpc_mail_header_kind(const char *name)
{
    size_t i = 0;
    while (i < MAIL_UNKNOWN && strcasecmp(mail_headers[i], name) != 0)
        i++;
    return (enum mail_header)i;
}

/* Excludes characters that would end an argument of MAIL or RCPT. */
static bool httpc_mail_is_mailbox(const char *text)
{
    const size_t len = strnlen(text, ADDRESS_MAX + 1);
    if (len > ADDRESS_MAX || !strchr(text, '@'))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isgraph((unsigned char)text[i]) || strchr("<>\"\\", text[i]))
            return false;
    return true;
}

/* Only logs in; sends no message. */
static bool httpc_mail_is_login_only(const struct httpc_request *r)
{
    return strcmp(r->method, METHOD_LOGIN) == 0;
}

static const char *httpc_mail_check_headers(const struct httpc_request *r)
{
    size_t n[MAIL_UNKNOWN + 1] = {0};
    for (size_t i = 0; i < r->header_count; i++) {
        const enum mail_header kind = httpc_mail_header_kind(r->headers[i].name);
        const char *const value = r->headers[i].value;
        n[kind]++;
        if (kind == MAIL_UNKNOWN)
            return "an e-mail has other headers than X-SMTP-…; those of the message are in its "
                   "body";
        if ((kind == MAIL_TO || (kind == MAIL_FROM && *value)) && !httpc_mail_is_mailbox(value))
            return "an address of the e-mail is invalid";
    }
    if (httpc_mail_is_login_only(r) && (n[MAIL_FROM] || n[MAIL_TO]))
        return "a login to a mail server has no sender and no recipients";
    if (!httpc_mail_is_login_only(r) &&
        (n[MAIL_FROM] != 1 || n[MAIL_TO] < 1 || n[MAIL_TO] > RECIPIENTS_MAX))
        return "an e-mail needs one header X-SMTP-From and 1 to 50 headers X-SMTP-To";
    if (n[MAIL_USER] > 1 || n[MAIL_USER] != n[MAIL_PASSWORD])
        return "an e-mail has one X-SMTP-User and one X-SMTP-Password, or neither";
    return NULL;
}

const char *httpc_mail_validate(const struct httpc_request *r)
{
    const char *const host = strstr(r->url, "://") + 3;
    const size_t len = strcspn(host, "/?#");
    if (host[len] && strcmp(host + len, "/") != 0)
        return "the URL of a mail server has no path"; /* libcurl would use it in EHLO */
    if (httpc_mail_is_login_only(r) ? r->body.len > 0
                                    : !r->body.len || memchr(r->body.p, '\0', r->body.len))
        return httpc_mail_is_login_only(r) ? "a login to a mail server has no body"
                                           : "the body of an e-mail is empty or has a NUL byte";
    if (r->save_dir || (r->content_type && strncmp(r->content_type, "multipart/", 10) == 0))
        return "an e-mail has neither parts nor a response to save";
    return httpc_mail_check_headers(r);
}

/* ---- the transfer ---- */

/* Ends every line with CRLF: servers disagree about other line ends, so a part of the message could
 * be taken for a command. */
static void httpc_mail_add_crlf_lines(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.p[i];
        if (c == '\n' && i > 0 && text.p[i - 1] == '\r')
            continue;
        if (c == '\n' || c == '\r')
            buf_add_str(out, "\r\n");
        else
            buf_add_char(out, c);
    }
}

static size_t httpc_mail_on_upload(char *to, size_t size, size_t n, void *arg)
{
    struct httpc_transfer *const c = arg;
    const size_t room = size * n, left = c->upload.len - c->uploaded;
    const size_t len = left < room ? left : room;
    int open = MAIL_OPEN;
    if (len == left && !atomic_compare_exchange_strong(&c->mail_phase, &open, MAIL_SENT) &&
        open == MAIL_CANCELLED)
        return CURL_READFUNC_ABORT;
    memcpy(to, c->upload.p + c->uploaded, len);
    c->uploaded += len;
    return len;
}

/* The status at the start of a reply line; 0: none. */
static int httpc_mail_parse_status(struct str line)
{
    int status = 0;
    for (size_t i = 0; i < 3; i++) {
        if (i >= line.len || !isdigit((unsigned char)line.p[i]))
            return 0;
        status = status * 10 + (line.p[i] - '0');
    }
    return status;
}

/* A line of a reply: a status, then "-" if more lines follow. The reply to QUIT is ignored. */
static size_t httpc_mail_on_reply(char *p, size_t size, size_t n, void *arg)
{
    struct httpc_transfer *const c = arg;
    const struct str line = {p, size * n};
    const int status = httpc_mail_parse_status(line);
    if (c->mail_is_decided || status == STATUS_BYE)
        return line.len;
    if (!c->mail_continues)
        buf_reset(&c->body);
    if (c->body.len + line.len <= REPLY_MAX)
        buf_add(&c->body, line.p, line.len);
    c->mail_continues = status && line.len > 3 && line.p[3] == '-';
    c->mail_status = status;
    c->mail_is_decided = !c->mail_continues && atomic_load(&c->mail_phase) == MAIL_SENT;
    if (c->mail_is_decided || status >= 400)
        c->curl->easy_setopt(c->easy, CURLOPT_SERVER_RESPONSE_TIMEOUT, QUIT_S);
    return line.len;
}

static int httpc_mail_on_progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t d, curl_off_t e)
{
    const struct httpc_transfer *const c = arg;
    (void)a, (void)b, (void)d, (void)e;
    return atomic_load(&c->mail_phase) >= MAIL_CANCELLED;
}

static void httpc_mail_set_envelope(struct httpc_transfer *c, const struct libcurl *curl,
                                    const struct httpc_request *r)
{
    for (size_t i = 0; i < r->header_count; i++) {
        CLEANUP_BUF struct buf address = {0};
        const char *const value = r->headers[i].value;
        const enum mail_header kind = httpc_mail_header_kind(r->headers[i].name);
        buf_printf(&address, "<%s>", value);
        if (kind == MAIL_FROM)
            curl->easy_setopt(c->easy, CURLOPT_MAIL_FROM, address.p);
        else if (kind == MAIL_TO)
            c->headers = curl->slist_append(c->headers, address.p);
        else
            curl->easy_setopt(c->easy, kind == MAIL_USER ? CURLOPT_USERNAME : CURLOPT_PASSWORD,
                              value);
    }
    if (c->headers)
        curl->easy_setopt(c->easy, CURLOPT_MAIL_RCPT, c->headers);
}

/* A mail server on this machine may be used without TLS. */
static bool httpc_mail_allows_plaintext(const struct httpc_request *r)
{
    char host[64] = "";
    const char *const at = strstr(r->url, "://") + 3;
    const size_t len = *at == '[' ? strcspn(at, "]") + 1 : strcspn(at, ":/");
    if (len < sizeof host)
        memcpy(host, at, len);
    return r->flags & HTTPC_LOOPBACK && httpc_transfer_is_loopback(host);
}

static void httpc_mail_set_message(struct httpc_transfer *c, const struct libcurl *curl)
{
    curl->easy_setopt(c->easy, CURLOPT_UPLOAD, 1L);
    curl->easy_setopt(c->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)c->upload.len);
    curl->easy_setopt(c->easy, CURLOPT_READFUNCTION, httpc_mail_on_upload);
    curl->easy_setopt(c->easy, CURLOPT_READDATA, c);
}

void httpc_mail_setup(struct httpc_transfer *c, const struct libcurl *curl,
                      const struct httpc_request *r)
{
    httpc_mail_add_crlf_lines(&c->upload, r->body);
    curl->easy_setopt(c->easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl->easy_setopt(c->easy, CURLOPT_USE_SSL,
                      (long)(httpc_mail_allows_plaintext(r) ? CURLUSESSL_NONE : CURLUSESSL_ALL));
    curl->easy_setopt(c->easy, CURLOPT_FORBID_REUSE, 1L); /* the worker waits for the reply to
                                                           * QUIT */
    if (httpc_mail_is_login_only(r))
        curl->easy_setopt(c->easy, CURLOPT_CUSTOMREQUEST, METHOD_LOGIN);
    else
        httpc_mail_set_message(c, curl);
    curl->easy_setopt(c->easy, CURLOPT_HEADERFUNCTION, httpc_mail_on_reply);
    curl->easy_setopt(c->easy, CURLOPT_XFERINFOFUNCTION, httpc_mail_on_progress);
    curl->easy_setopt(c->easy, CURLOPT_XFERINFODATA, c);
    curl->easy_setopt(c->easy, CURLOPT_NOPROGRESS, 0L);
    httpc_mail_set_envelope(c, curl, r);
}

void httpc_mail_perform(struct httpc_transfer *c)
{
    c->mail_code = c->curl->easy_perform(c->easy);
}

bool httpc_mail_stop(struct httpc_transfer *c)
{
    int open = MAIL_OPEN;
    const bool stopped = atomic_compare_exchange_strong(&c->mail_phase, &open, MAIL_CANCELLED);
    if (!stopped)
        atomic_store(&c->mail_phase, MAIL_ABANDONED);
    return stopped;
}

/* ---- the result ---- */

enum httpc_outcome httpc_mail_outcome(const struct httpc_transfer *c, CURLcode code)
{
    if (code == CURLE_OK)
        return HTTPC_OK;
    if (code != CURLE_ABORTED_BY_CALLBACK && c->mail_status >= 400)
        return HTTPC_REJECTED;
    return atomic_load(&c->mail_phase) == MAIL_SENT ? HTTPC_AMBIGUOUS : HTTPC_NOT_SENT;
}
