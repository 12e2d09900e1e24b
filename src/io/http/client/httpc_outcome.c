/* SPDX-License-Identifier: MIT
 * Classifies a finished transfer (ok, rejected, not sent, ambiguous) and builds an error text
 * without URL or secrets. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "io/http/client/httpc_mail.h"

#define RETRY_AFTER_MAX_MS (7 * 24 * 3600 * INT64_C(1000))

static bool httpc_outcome_is_unsent_code(CURLcode code)
{
    static const CURLcode codes[] = {
        CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST,     CURLE_COULDNT_CONNECT,
        CURLE_SSL_CONNECT_ERROR,     CURLE_PEER_FAILED_VERIFICATION, CURLE_PROXY,
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

/* The status with which the proxy refused the connection; 0: it did not. */
static int httpc_outcome_proxy_status(const struct httpc_transfer *c, const struct libcurl *curl)
{
    long status = 0;
    if (c->easy)
        curl->easy_getinfo(c->easy, CURLINFO_HTTP_CONNECTCODE, &status);
    return status >= 200 && status < 300 ? 0 : (int)status;
}

/* Whether the service may have received the whole request. With a body, only the bytes handed to
 * libcurl show this, because after an internal retry libcurl's counters and codes describe the
 * retry. */
static bool httpc_outcome_may_have_sent(const struct httpc_transfer *c, const struct libcurl *curl,
                                        CURLcode code)
{
    curl_off_t before_us = 0;
    long header_bytes = 0;
    if (httpc_outcome_proxy_status(c, curl))
        return false;
    if (c->upload.len)
        return c->is_uploaded;
    curl->easy_getinfo(c->easy, CURLINFO_PRETRANSFER_TIME_T, &before_us);
    curl->easy_getinfo(c->easy, CURLINFO_REQUEST_SIZE, &header_bytes);
    return !httpc_outcome_is_unsent_code(code) && before_us > 0 && header_bytes > 0;
}

static enum httpc_outcome httpc_outcome_classify(const struct httpc_transfer *c,
                                                 const struct libcurl *curl, CURLcode code,
                                                 int status)
{
    if (c->refused)
        return HTTPC_REJECTED;
    if (c->is_mail)
        return httpc_mail_outcome(c, code);
    if (status >= 300 && status < 500)
        return HTTPC_REJECTED; /* received before the response broke off, if at all */
    if (code == CURLE_OK)
        return status >= 200 && status < 300 ? HTTPC_OK : HTTPC_AMBIGUOUS;
    return httpc_outcome_may_have_sent(c, curl, code) ? HTTPC_AMBIGUOUS : HTTPC_NOT_SENT;
}

/* The error text of a mail server, in one line. */
static void httpc_outcome_describe_smtp(const struct httpc_transfer *c, struct buf *text)
{
    buf_add_str(text, "SMTP ");
    for (size_t i = 0; i < c->body.len; i++)
        buf_add_char(text, isprint((unsigned char)c->body.p[i]) ? c->body.p[i] : ' ');
    while (text->len > 0 && text->p[text->len - 1] == ' ')
        text->p[--text->len] = '\0';
}

static void httpc_outcome_describe(const struct httpc_transfer *c, const struct libcurl *curl,
                                   CURLcode code, int status, struct buf *text)
{
    if (c->refused)
        buf_add_str(text, c->refused);
    else if (c->is_too_big || code == CURLE_FILESIZE_EXCEEDED)
        buf_printf(text, "the response exceeds %d bytes", httpc_transfer_max_body(c));
    else if (c->save_failed)
        buf_printf(text, "cannot save the response: %s", strerror(c->save_failed));
    else if (code == CURLE_ABORTED_BY_CALLBACK)
        buf_add_str(text, "cancelled");
    else if (code != CURLE_OK && httpc_outcome_proxy_status(c, curl))
        buf_printf(text, "the proxy refused the connection: HTTP %d",
                   httpc_outcome_proxy_status(c, curl));
    else if (c->is_mail && status >= 400)
        httpc_outcome_describe_smtp(c, text);
    else if (code != CURLE_OK)
        buf_add_str(text, *c->error ? c->error : curl->easy_strerror(code));
    else if (status >= 300 && status < 400)
        buf_printf(text, "HTTP %d: unexpected redirect (redirects are not followed)", status);
    else
        buf_printf(text, "HTTP %d", status);
}

/* The delay of a Retry-After value in milliseconds, rounded up, at `now` (Unix seconds); -1:
 * none. */
static int64_t httpc_transfer_parse_retry_after(const struct libcurl *curl, const char *value,
                                                double now)
{
    if (!isdigit((unsigned char)*value)) {
        const time_t at = *value ? curl->getdate(value, NULL) : -1;
        if (at < 0)
            return -1;
        const double ms = ((double)at - now) * 1000;
        return ms <= 0 ? 0 : ms > RETRY_AFTER_MAX_MS ? RETRY_AFTER_MAX_MS : (int64_t)ms + 1;
    }
    int64_t ms = 0;
    for (; isdigit((unsigned char)*value); value++)
        ms = ms < RETRY_AFTER_MAX_MS ? ms * 10 + (*value - '0') * 1000 : ms;
    if (*value == '.') {
        int64_t unit = 100;
        for (value++; isdigit((unsigned char)*value); value++, unit /= 10)
            ms += unit ? (*value - '0') * unit : (*value > '0');
    }
    return ms < RETRY_AFTER_MAX_MS ? ms : RETRY_AFTER_MAX_MS;
}

struct httpc_reply httpc_transfer_build_reply(struct httpc_transfer *c, const struct libcurl *curl,
                                              CURLcode code, struct buf *error)
{
    long status = 0;
    if (c->is_mail)
        status = c->mail_status;
    else if (c->easy)
        curl->easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    struct httpc_reply reply = {
        .outcome = httpc_outcome_classify(c, curl, code, (int)status),
        .status = (int)status,
        .body = {c->body.p ? c->body.p : "", c->body.len},
        .headers = c->answered.all,
        .header_count = c->answered.count,
        .retry_after_ms =
            *c->retry_after ? httpc_transfer_parse_retry_after(curl, c->retry_after, clock_wall_s())
                            : -1,
        .error = "",
    };
    reply.is_untrusted = code == CURLE_PEER_FAILED_VERIFICATION && reply.outcome == HTTPC_NOT_SENT;
    if (c->is_mail && reply.outcome != HTTPC_OK && reply.outcome != HTTPC_REJECTED)
        reply.status = 0; /* the last reply was not about the message */
    reply.is_passing =
        c->is_mail && reply.outcome == HTTPC_REJECTED && status >= 400 && status < 500;
    const time_t date = *c->date ? curl->getdate(c->date, NULL) : -1;
    reply.date = date > 0 ? date : 0;
    if (reply.outcome == HTTPC_OK) {
        reply.path = c->file.path;
        c->is_saved = c->file.path != NULL;
        return reply;
    }
    CLEANUP_BUF struct buf text = {0};
    httpc_outcome_describe(c, curl, code, (int)status, &text);
    log_redact(error, (struct str){text.p, text.len});
    reply.error = error->p;
    return reply;
}
