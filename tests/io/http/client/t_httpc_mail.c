/* SPDX-License-Identifier: MIT
 * Tests of e-mails that the HTTP client sends: the envelope, the message, and the outcome of each
 * fault. The server is tests/fake/smtpd.py. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes/buf.h"
#include "io/http/client/httpc.h"
#include "tap/tap.h"

#define PASSWORD "canary-password-1"

static struct loop *loop;

/* ---- the server ---- */

struct server {
    pid_t pid;
    FILE *out;
    int port;
    char log[600];
};

static struct server start_server(const char *name, const char *option, const char *value)
{
    struct server s = {0};
    int fds[2];
    char script[600], line[100] = "";
    snprintf(script, sizeof script, "%s/tests/fake/smtpd.py", getenv("TURNCAST_SRCDIR"));
    snprintf(s.log, sizeof s.log, "%s/%s", tap_tmpdir(), name);
    if (pipe(fds) < 0)
        bail("no pipe");
    s.pid = fork();
    if (s.pid == 0) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        execlp("python3", "python3", script, s.log, option, value, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    s.out = fdopen(fds[0], "r");
    if (!fgets(line, sizeof line, s.out) || sscanf(line, "listening %d", &s.port) != 1)
        bail("the mail server does not listen");
    return s;
}

static void stop_server(const struct server *s)
{
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    fclose(s->out);
}

static char *read_log(const struct server *s)
{
    struct buf text = {0};
    char part[4096];
    FILE *const f = fopen(s->log, "r");
    for (size_t n; f && (n = fread(part, 1, sizeof part, f)) > 0;)
        buf_add(&text, part, n);
    if (f)
        fclose(f);
    buf_add(&text, "", 0);
    return buf_steal(&text);
}

/* ---- requests ---- */

static struct told {
    unsigned count;
    enum httpc_outcome outcome;
    int status;
    bool is_passing;
    char error[512], body[512];
} told;

static void on_done(void *arg, const struct httpc_reply *reply)
{
    (void)arg;
    told.count++;
    told.outcome = reply->outcome;
    told.status = reply->status;
    told.is_passing = reply->is_passing;
    snprintf(told.error, sizeof told.error, "%s", reply->error);
    snprintf(told.body, sizeof told.body, "%s", reply->body.p);
}

static struct httpc_transfer *start(struct httpc *h, const char *url, const char *to,
                                    const char *body, unsigned flags)
{
    static char from[] = "bot@example.org";
    const struct httpc_header headers[] = {{"X-SMTP-From", from}, {"X-SMTP-To", to}};
    told = (struct told){0};
    return httpc_start(h,
                       &(struct httpc_request){.method = "POST",
                                               .url = url,
                                               .headers = headers,
                                               .header_count = 2,
                                               .body = {body, strlen(body)},
                                               .content_type = "application/json; charset=utf-8",
                                               .timeout_ms = 60000,
                                               .flags = flags},
                       on_done, NULL);
}

static void send_mail(struct httpc *h, const char *url, const char *to, const char *body,
                      unsigned flags)
{
    start(h, url, to, body, flags);
    while (!told.count)
        loop_run_once(loop, -1);
}

static const char *url_of(const struct server *s)
{
    static char url[64];
    snprintf(url, sizeof url, "smtp://127.0.0.1:%d", s->port);
    return url;
}

/* ---- tests ---- */

static void test_arrives(struct httpc *h)
{
    const struct server s = start_server("plain", NULL, NULL);
    send_mail(h, url_of(&s), "ann@example.org", "Subject: Hi\n\n.dot\r\nthe\rend", HTTPC_LOOPBACK);
    is_int(told.outcome, HTTPC_OK, "an e-mail is sent");
    is_int(told.status, 250, "the status of the last reply");
    is_str(told.body, "250 2.0.0 queued\r\n", "the text of the last reply");
    char *const log = read_log(&s);
    is_str(log,
           "{\"from\": \"bot@example.org\", \"to\": [\"ann@example.org\"], \"data\": "
           "\"Subject: Hi\\r\\n\\r\\n..dot\\r\\nthe\\r\\nend\\r\\n\", \"tls\": false, \"user\": "
           "null}\n",
           "every line ends with CRLF, and no dot ends the message");
    free(log);
    stop_server(&s);
}

static void test_faults(struct httpc *h)
{
    static const struct {
        const char *to, *error;
        enum httpc_outcome outcome;
        int status;
        bool is_passing;
    } faults[] = {
        {"refused@x.org", "SMTP 550 5.1.1 no such user", HTTPC_REJECTED, 550, false},
        {"later@x.org", "SMTP 451 4.2.1 try later", HTTPC_REJECTED, 451, true},
        {"dot4@x.org", "SMTP 452 4.3.1 no room", HTTPC_REJECTED, 452, true},
        {"dot5@x.org", "SMTP 554 5.7.1 unwanted", HTTPC_REJECTED, 554, false},
        {"drop@x.org", "", HTTPC_AMBIGUOUS, 0, false},
        {"part@x.org", "", HTTPC_NOT_SENT, 0, false},
        {"lost@x.org", "", HTTPC_AMBIGUOUS, 0, false},
        {"weird@x.org", "", HTTPC_AMBIGUOUS, 0, false},
    };
    static char large[24 << 20]; /* larger than the buffers of a connection */
    const struct server s = start_server("faults", NULL, NULL);
    memset(large, 'x', sizeof large - 1);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        send_mail(h, url_of(&s), faults[i].to,
                  strcmp(faults[i].to, "part@x.org") == 0 ? large : "x", HTTPC_LOOPBACK);
        is_int(told.outcome, faults[i].outcome, "%s: the outcome", faults[i].to);
        is_int(told.status, faults[i].status, "%s: the status", faults[i].to);
        ok(told.is_passing == faults[i].is_passing, "%s: whether a later attempt may succeed",
           faults[i].to);
        has_str(told.error, faults[i].error, "%s: the text of the server", faults[i].to);
    }
    stop_server(&s);
    send_mail(h, url_of(&s), "ann@x.org", "x", HTTPC_LOOPBACK);
    is_int(told.outcome, HTTPC_NOT_SENT, "without a server the e-mail is not sent");
}

static void test_cancel(struct httpc *h)
{
    const struct server s = start_server("cancel", NULL, NULL);
    struct httpc_transfer *const c = start(h, url_of(&s), "mute@x.org", "x", HTTPC_LOOPBACK);
    while (access(s.log, F_OK) != 0) /* the server has received the e-mail */
        loop_run_once(loop, 10);
    httpc_cancel(c);
    is_int(told.count, 1, "a cancelled e-mail ends at once");
    is_int(told.outcome, HTTPC_AMBIGUOUS, "a cancelled e-mail that was in flight is ambiguous");
    struct httpc_transfer *const next = start(h, url_of(&s), "ann@x.org", "x", HTTPC_LOOPBACK);
    httpc_cancel(next);
    is_int(told.outcome, HTTPC_NOT_SENT, "a waiting e-mail that is cancelled is not sent");
    send_mail(h, url_of(&s), "bob@x.org", "x", HTTPC_LOOPBACK);
    is_int(told.outcome, HTTPC_OK, "the next e-mail is sent");
    char *const log = read_log(&s);
    ok(!strstr(log, "ann@x.org") && strstr(log, "bob@x.org"),
       "the server has received only the next e-mail");
    free(log);
    stop_server(&s);
}

/* Uses more servers than the client has workers; one of the servers does not answer. */
static void test_slow_server(struct httpc *h)
{
    const struct server slow = start_server("slow", NULL, NULL),
                        s = start_server("quick", NULL, NULL);
    struct httpc_transfer *const c = start(h, url_of(&slow), "mute@x.org", "x", HTTPC_LOOPBACK);
    while (access(slow.log, F_OK) != 0) /* the server has received the e-mail */
        loop_run_once(loop, 10);
    send_mail(h, url_of(&s), "ann@x.org", "x", HTTPC_LOOPBACK);
    is_int(told.outcome, HTTPC_OK, "a server that does not answer delays no e-mail to another");
    told = (struct told){0};
    httpc_cancel(c);
    is_int(told.outcome, HTTPC_AMBIGUOUS,
           "the e-mail to the server that does not answer was in flight");
    stop_server(&slow);
    for (int i = 1; i <= 20; i++) {
        char url[64];
        snprintf(url, sizeof url, "smtp://127.0.0.%d:%d", i, s.port);
        send_mail(h, url, "ann@x.org", "x", HTTPC_LOOPBACK);
        is_int(told.outcome, i == 1 ? HTTPC_OK : HTTPC_NOT_SENT, "server %d", i);
    }
    send_mail(h, url_of(&s), "bob@x.org", "x", HTTPC_LOOPBACK);
    is_int(told.outcome, HTTPC_OK, "with more servers than workers, e-mails are delivered");
    stop_server(&s);
}

static void test_refused(struct httpc *h)
{
    static const struct {
        const char *url, *to, *body, *error;
    } cases[] = {
        {"smtp://h/", "ann", "x", "an address of the e-mail is invalid"},
        {"smtp://h/", "a@b> SIZE=1", "x", "an address of the e-mail is invalid"},
        {"smtp://h/", "a@b", "", "the body of an e-mail is empty"},
        {"smtp://h/me", "a@b", "x", "the URL of a mail server has no path"},
        {"smtp://u:p@h/", "a@b", "x", "must not contain a user name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        send_mail(h, cases[i].url, cases[i].to, cases[i].body, 0);
        is_int(told.outcome, HTTPC_REJECTED, "the client refuses the e-mail: %s", cases[i].error);
        has_str(told.error, cases[i].error, "the error text names the reason");
    }
}

/* ---- TLS and credentials ---- */

static bool make_certificate(const char *pem)
{
    char command[4000];
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
             "-subj /CN=service -addext subjectAltName=IP:127.0.0.1 -keyout %s.key -out %s.crt "
             ">/dev/null 2>&1 && cat %s.key %s.crt >%s",
             pem, pem, pem, pem, pem);
    return system(command) == 0; /* NOLINT(cert-env33-c) */
}

static void send_as(struct httpc *h, const char *url, const char *password)
{
    const struct httpc_header headers[] = {{"X-SMTP-From", "bot@example.org"},
                                           {"X-SMTP-To", "ann@example.org"},
                                           {"X-SMTP-To", "bob@example.org"},
                                           {"X-SMTP-User", "bot"},
                                           {"X-SMTP-Password", password}};
    told = (struct told){0};
    httpc_start(
        h,
        &(struct httpc_request){
            .method = "POST", .url = url, .headers = headers, .header_count = 5, .body = {"x", 1}},
        on_done, NULL);
    while (!told.count)
        loop_run_once(loop, -1);
}

static void test_tls(void)
{
    char pem[600], certificate[700];
    snprintf(pem, sizeof pem, "%s/pem", tap_tmpdir());
    snprintf(certificate, sizeof certificate, "%s.crt", pem);
    if (!make_certificate(pem))
        bail("openssl cannot create a certificate");
    struct httpc *const h = httpc_new(loop, &(struct httpc_options){.ca_file = certificate});
    const struct server plain = start_server("bare", "--auth", "bot:" PASSWORD);
    send_as(h, url_of(&plain), PASSWORD);
    is_int(told.outcome, HTTPC_NOT_SENT,
           "without TLS the client sends a password only to a loopback address");
    stop_server(&plain);
    const struct server s = start_server("tls", "--tls", pem);
    send_as(h, url_of(&s), PASSWORD);
    is_int(told.outcome, HTTPC_OK, "an e-mail is sent over STARTTLS");
    char *const log = read_log(&s);
    has_str(log, "\"to\": [\"ann@example.org\", \"bob@example.org\"]",
            "the e-mail has two recipients");
    has_str(log, "\"tls\": true", "the server has received the e-mail over TLS");
    free(log);
    stop_server(&s);
    httpc_free(h);
}

static void test_credentials(struct httpc *h)
{
    const struct server s = start_server("auth", "--auth", "bot:" PASSWORD);
    const struct httpc_header headers[] = {{"X-SMTP-From", ""},
                                           {"X-SMTP-To", "ann@example.org"},
                                           {"X-SMTP-User", "bot"},
                                           {"X-SMTP-Password", PASSWORD}};
    struct httpc_request request = {.method = "POST",
                                    .url = url_of(&s),
                                    .headers = headers,
                                    .header_count = 4,
                                    .body = {"x", 1},
                                    .flags = HTTPC_LOOPBACK};
    told = (struct told){0};
    httpc_start(h, &request, on_done, NULL);
    while (!told.count)
        loop_run_once(loop, -1);
    is_int(told.outcome, HTTPC_OK, "an e-mail of a user with a password is sent");
    char *const log = read_log(&s);
    has_str(log, "{\"from\": \"\"", "the sender may be empty");
    has_str(log, "\"user\": \"bot\"", "the server knows the user");
    free(log);
    send_mail(h, url_of(&s), "ann@example.org", "x", HTTPC_LOOPBACK);
    is_int(told.status, 530, "the server refuses an e-mail without a login");
    request.header_count = 3;
    told = (struct told){0};
    httpc_start(h, &request, on_done, NULL);
    while (!told.count)
        loop_run_once(loop, -1);
    has_str(told.error, "or neither", "the client refuses a user without a password");
    stop_server(&s);
}

static void log_in(struct httpc *h, const struct server *s, const char *password, const char *body)
{
    const struct httpc_header headers[] = {{"X-SMTP-User", "bot"}, {"X-SMTP-Password", password}};
    told = (struct told){0};
    httpc_start(h,
                &(struct httpc_request){.method = "NOOP",
                                        .url = url_of(s),
                                        .headers = headers,
                                        .header_count = password ? 2 : 0,
                                        .body = {body, strlen(body)},
                                        .flags = HTTPC_LOOPBACK},
                on_done, NULL);
    while (!told.count)
        loop_run_once(loop, -1);
}

static void test_login(struct httpc *h)
{
    const struct server s = start_server("login", "--auth", "bot:" PASSWORD);
    log_in(h, &s, PASSWORD, "");
    is_int(told.outcome, HTTPC_OK, "a login without an e-mail succeeds");
    is_int(told.status, 250, "the status of the login");
    log_in(h, &s, "wrong", "");
    is_int(told.outcome, HTTPC_REJECTED, "a login with a wrong password is refused");
    is_int(told.status, 535, "the status of the refused login");
    has_str(told.error, "wrong user or password", "the error text is the text of the server");
    log_in(h, &s, NULL, "");
    is_int(told.outcome, HTTPC_OK, "a connection without a login succeeds");
    log_in(h, &s, PASSWORD, "x");
    has_str(told.error, "a login to a mail server has no body", "a login with a body is refused");
    is_int(access(s.log, F_OK), -1, "no e-mail was sent");
    stop_server(&s);
    log_in(h, &s, PASSWORD, "");
    is_int(told.outcome, HTTPC_NOT_SENT, "a login without a server: not sent");
}

int main(void)
{
    plan_lazy();
    loop = loop_new();
    struct httpc *const h = httpc_new(loop, NULL);
    test_arrives(h);
    test_faults(h);
    test_cancel(h);
    test_slow_server(h);
    test_refused(h);
    test_credentials(h);
    test_login(h);
    test_tls();
    httpc_free(h);
    loop_free(loop);
    return 0;
}
