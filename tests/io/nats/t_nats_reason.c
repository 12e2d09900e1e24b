/* SPDX-License-Identifier: MIT
 * Tests of the texts that describe errors of a connection to NATS servers. */
#include "io/nats/nats_reason.h"

#include "tap/tap.h"

static const char *get_text(natsStatus status)
{
    (void)status;
    return "Text of the library";
}

static const struct {
    const char *name;
    natsStatus status;
    const char *told;
    struct nats_reason_spec spec;
    const char *text;
} cases[] = {
    {"not valid yet",
     NATS_SSL_ERROR,
     "(conn.c:733): SSL handshake error: 9",
     {.tls = true},
     "the server's certificate is not valid yet; set the clock of this machine"},
    {"expired",
     NATS_SSL_ERROR,
     "(conn.c:733): SSL handshake error: 10:x",
     {.tls = true},
     "the server's certificate has expired; renew it on the server"},
    {"self-signed",
     NATS_SSL_ERROR,
     "SSL handshake error: 18",
     {.tls = true},
     "the server's certificate is signed by itself; set tls.ca to it"},
    {"another authority in the chain",
     NATS_SSL_ERROR,
     "SSL handshake error: 19",
     {.tls = true},
     "the authority of the server's certificate is not known; set tls.ca to its certificate"},
    {"unknown authority",
     NATS_SSL_ERROR,
     "SSL handshake error: 20",
     {.tls = true},
     "the authority of the server's certificate is not known; set tls.ca to its certificate"},
    {"no chain",
     NATS_SSL_ERROR,
     "SSL handshake error: 21",
     {.tls = true},
     "the authority of the server's certificate is not known; set tls.ca to its certificate"},
    {"another name",
     NATS_SSL_ERROR,
     "SSL handshake error: 62",
     {.tls = true},
     "the server's certificate is for another name; use a name in url that it has"},
    {"another address",
     NATS_SSL_ERROR,
     "SSL handshake error: 64",
     {.tls = true},
     "the server's certificate is for another address; use a name in url that it has"},
    {"another number",
     NATS_SSL_ERROR,
     "(conn.c:733): SSL handshake error: 1",
     {.tls = true},
     "Text of the library: SSL handshake error: 1"},
    {"an error that is not of the handshake",
     NATS_SSL_ERROR,
     "(opts.c:9): Error loading trusted certificates",
     {.tls = true},
     "Text of the library: Error loading trusted certificates"},
    {"a parenthesis without a position",
     NATS_SSL_ERROR,
     "(wrong key",
     {.tls = true},
     "Text of the library: (wrong key"},
    {"a number without a handshake",
     NATS_SSL_ERROR,
     "10",
     {.tls = true},
     "Text of the library: 10"},
    {"closed during the handshake",
     NATS_IO_ERROR,
     NULL,
     {.tls = true},
     "the server has closed the connection; if it demands a certificate, set tls.cert and tls.key"},
    {"closed during the protocol",
     NATS_PROTOCOL_ERROR,
     "",
     {.tls = true, .has_cert = true},
     "the server has closed the connection; check that it accepts the certificate of tls.cert"},
    {"closed",
     NATS_CONNECTION_CLOSED,
     "",
     {.tls = true, .has_cert = true},
     "the server has closed the connection; check that it accepts the certificate of tls.cert"},
    {"closed without TLS",
     NATS_IO_ERROR,
     "(sock.c:1): gone",
     {.tls = false},
     "Text of the library: gone"},
    {"no error text", NATS_CONNECTION_CLOSED, NULL, {.tls = false}, "Text of the library"},
    {"an empty error text", NATS_CONNECTION_CLOSED, "", {.tls = false}, "Text of the library"},
    {"no TLS",
     NATS_SECURE_CONNECTION_WANTED,
     "x",
     {.tls = true},
     "the server has no TLS; add tls to its configuration, or use nats:// in url"},
    {"wrong password",
     NATS_CONNECTION_AUTH_FAILED,
     "x",
     {.proof = NATS_PROOF_PASSWORD},
     "the server refuses the user or its password; correct credentials"},
    {"wrong token",
     NATS_CONNECTION_AUTH_FAILED,
     "x",
     {.proof = NATS_PROOF_TOKEN},
     "the server refuses the token; correct token"},
    {"wrong file",
     NATS_CONNECTION_AUTH_FAILED,
     "x",
     {.proof = NATS_PROOF_FILE},
     "the server refuses the user of the credentials file; renew the file that credentials_file "
     "names"},
    {"no credentials",
     NATS_CONNECTION_AUTH_FAILED,
     "x",
     {.proof = NATS_PROOF_NONE},
     "the server demands to know who connects; set credentials, token or credentials_file"},
    {"no server", NATS_NO_SERVER, "x", {.tls = true}, "no server can be reached"},
    {"a timeout", NATS_TIMEOUT, "x", {.tls = true}, "no server can be reached"},
    {"something else",
     NATS_INVALID_ARG,
     "(opts.c:12): bad URL",
     {.tls = true},
     "Text of the library: bad URL"},
};

int main(void)
{
    const struct libnats nats = {.natsStatus_GetText = get_text};
    char text[200], cut[8];
    plan_lazy();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nats_reason_describe(text, sizeof text, &nats, cases[i].status, cases[i].told,
                             &cases[i].spec);
        is_str(text, cases[i].text, "%s", cases[i].name);
    }
    nats_reason_describe(cut, sizeof cut, &nats, NATS_NO_SERVER, NULL,
                         &(struct nats_reason_spec){0});
    is_str(cut, "no serv", "a long text is truncated");
    return 0;
}
