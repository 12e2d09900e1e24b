/* SPDX-License-Identifier: MIT
 * Tests which certificates the HTTP client trusts. The certificates are created here, and presented
 * by openssl s_server. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/http/client/httpc.h"
#include "tap/tap.h"

/* Creates an authority and four certificates for one key: valid, expired, for another name,
 * self-signed. */
static const char make_certificates[] =
    "exec >/dev/null 2>&1; set -e; cd \"$1\"\n"
    "key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'\n"
    "openssl req -x509 $key -keyout ca.key -out ca.pem -subj /CN=authority -days 2\n"
    "openssl req $key -keyout key.pem -out request -subj /CN=service\n"
    "echo subjectAltName=IP:127.0.0.1 >here; echo subjectAltName=DNS:other.example >there\n"
    "sign() { openssl x509 -req -in request -CA ca.pem -CAkey ca.key -set_serial $1 -days $2 \\\n"
    "    -extfile $3 -out $4.pem; }\n"
    "sign 1 2 here good; sign 2 -1 here expired; sign 3 2 there other\n"
    "openssl req -x509 -key key.pem -out self.pem -subj /CN=service -days 2 \\\n"
    "    -addext subjectAltName=IP:127.0.0.1\n";

#define NO_FILE "error setting certificate"

static struct loop *loop;
static char ca_file[512];

static bool can_make_certificates(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        execlp("sh", "sh", "-c", make_certificates, "sh", tap_tmpdir(), (char *)NULL);
        _exit(127);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void exec_server(const char *certificate, int out)
{
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    if (chdir(tap_tmpdir()) == 0)
        execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate,
               "-key", "key.pem", "-www", (char *)NULL);
    _exit(127);
}

struct server {
    pid_t pid;
    FILE *out; /* stays open while the server runs, because the server goes on writing */
    int port;
};

/* Starts a server that answers every path. */
static struct server start_server(const char *certificate)
{
    int fds[2];
    char line[512] = "";
    if (pipe(fds) < 0)
        bail("no pipe");
    struct server server = {.pid = fork()};
    if (server.pid == 0)
        exec_server(certificate, fds[1]);
    close(fds[1]);
    server.out = fdopen(fds[0], "r");
    while (!server.port && fgets(line, sizeof line, server.out))
        sscanf(line, "ACCEPT 127.0.0.1:%d", &server.port);
    if (!server.port)
        bail("openssl s_server does not listen: %s", line);
    return server;
}

static void stop_server(const struct server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    fclose(server->out);
}

struct got {
    bool done;
    enum httpc_outcome outcome;
    int status;
    bool is_untrusted;
    char error[512];
};

static void on_reply(void *arg, const struct httpc_reply *r)
{
    struct got *const g = arg;
    *g = (struct got){
        .done = true, .outcome = r->outcome, .status = r->status, .is_untrusted = r->is_untrusted};
    snprintf(g->error, sizeof g->error, "%s", r->error);
}

static void test(const char *name, const char *certificate, const char *trusted,
                 enum httpc_outcome wanted, const char *error)
{
    struct got g = {0};
    char url[128];
    const struct server server = start_server(certificate);
    const struct httpc_options options = {.ca_file = trusted};
    struct httpc *const http = httpc_new(loop, &options);
    snprintf(url, sizeof url, "https://127.0.0.1:%d/bot1:PathSecret", server.port);
    httpc_start(http, &(struct httpc_request){.method = "GET", .url = url, .flags = HTTPC_LOOPBACK},
                on_reply, &g);
    for (int rounds = 0; !g.done && rounds < 20000; rounds++)
        loop_run_once(loop, 1000);
    is_int(g.outcome, wanted, "%s", name);
    has_str(g.error, error, "%s: the error text names the reason", name);
    ok(g.is_untrusted == (wanted == HTTPC_NOT_SENT && strcmp(error, NO_FILE) != 0),
       "%s: whether the certificate is the reason", name);
    ok(!strstr(g.error, "PathSecret"), "%s: the error text does not contain the URL", name);
    httpc_free(http);
    stop_server(&server);
}

int main(void)
{
    plan_lazy();
    snprintf(ca_file, sizeof ca_file, "%s/ca.pem", tap_tmpdir());
    if (!can_make_certificates()) {
        skip(1, "openssl cannot make certificates");
        return 0;
    }
    loop = loop_new();
    test("trusted", "good.pem", ca_file, HTTPC_OK, "");
    test("expired", "expired.pem", ca_file, HTTPC_NOT_SENT, "certificate has expired");
    test("self-signed", "self.pem", ca_file, HTTPC_NOT_SENT, "certificate problem: self");
    test("another name", "other.pem", ca_file, HTTPC_NOT_SENT, "127.0.0.1");
    test("unknown authority", "good.pem", NULL, HTTPC_NOT_SENT, "certificate problem");
    test("unreadable authorities", "good.pem", "/nonexistent", HTTPC_NOT_SENT, NO_FILE);
    loop_free(loop);
    return 0;
}
