/* SPDX-License-Identifier: MIT
 * Owns what each error of a connection means. */
#include "io/nats/nats_reason.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HANDSHAKE "SSL handshake error: "

/* Numbers of OpenSSL's verification (X509_V_ERR_…). */
static const struct nats_reason_row {
    int error;
    const char *text;
} rows[] = {
    {9, "the server's certificate is not valid yet; set the clock of this machine"},
    {10, "the server's certificate has expired; renew it on the server"},
    {18, "the server's certificate is signed by itself; set tls.ca to it"},
    {19, "the authority of the server's certificate is not known; set tls.ca to its certificate"},
    {20, "the authority of the server's certificate is not known; set tls.ca to its certificate"},
    {21, "the authority of the server's certificate is not known; set tls.ca to its certificate"},
    {62, "the server's certificate is for another name; use a name in url that it has"},
    {64, "the server's certificate is for another address; use a name in url that it has"},
};

static const char *nats_reason_find_verification(const char *told)
{
    const char *const at = strstr(told, HANDSHAKE);
    const int error = at ? atoi(at + strlen(HANDSHAKE)) : 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].error == error)
            return rows[i].text;
    return NULL;
}

/* What the library says begins with the place in its sources: "(conn.c:733): ". */
static const char *nats_reason_skip_place(const char *told)
{
    const char *const end = *told == '(' ? strstr(told, "): ") : NULL;
    return end ? end + 3 : told;
}

/* With TLS 1.3, a server refuses the client's certificate behind the handshake, and hangs up. */
static const char *nats_reason_find_hang_up(const struct nats_reason_spec *spec)
{
    if (!spec->tls)
        return NULL;
    return spec->has_cert ? "the server has closed the connection; check that it accepts the "
                            "certificate of tls.cert"
                          : "the server has closed the connection; if it demands a certificate, "
                            "set tls.cert and tls.key";
}

static const char *nats_reason_find_refusal(enum nats_proof proof)
{
    switch (proof) {
    case NATS_PROOF_PASSWORD:
        return "the server refuses the user or its password; correct credentials";
    case NATS_PROOF_TOKEN:
        return "the server refuses the token; correct token";
    case NATS_PROOF_FILE:
        return "the server refuses the user of the credentials file; renew the file that "
               "credentials_file names";
    case NATS_PROOF_NONE:
        break;
    }
    return "the server demands to know who connects; set credentials, token or credentials_file";
}

static const char *nats_reason_find(natsStatus status, const char *told,
                                    const struct nats_reason_spec *spec)
{
    switch ((int)status) {
    case NATS_SSL_ERROR:
        return nats_reason_find_verification(told);
    case NATS_PROTOCOL_ERROR:
    case NATS_IO_ERROR:
    case NATS_CONNECTION_CLOSED:
        return nats_reason_find_hang_up(spec);
    case NATS_SECURE_CONNECTION_WANTED:
        return "the server has no TLS; add tls to its configuration, or use nats:// in url";
    case NATS_CONNECTION_AUTH_FAILED:
        return nats_reason_find_refusal(spec->proof);
    case NATS_NO_SERVER:
    case NATS_TIMEOUT:
        return "no server can be reached";
    }
    return NULL;
}

void nats_reason_describe(char *out, size_t size, const struct libnats *nats, natsStatus status,
                          const char *told, const struct nats_reason_spec *spec)
{
    const char *const known = nats_reason_find(status, told ? told : "", spec);
    if (known)
        snprintf(out, size, "%s", known);
    else if (told && *told)
        snprintf(out, size, "%s: %s", nats->natsStatus_GetText(status),
                 nats_reason_skip_place(told));
    else
        snprintf(out, size, "%s", nats->natsStatus_GetText(status));
}
