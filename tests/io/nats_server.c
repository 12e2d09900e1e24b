/* SPDX-License-Identifier: MIT
 * Owns the process of the NATS server. */
#include "io/nats_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap/tap.h"

static int nats_server_bind(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    at.sin_port = htons((uint16_t)port);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0)
        bail("cannot bind a port");
    getsockname(fd, (struct sockaddr *)&at, &len);
    close(fd);
    return ntohs(at.sin_port);
}

static bool nats_server_accepts(void *arg)
{
    const struct nats_server *const s = arg;
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)s->port),
                                   .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool accepts = connect(fd, (const struct sockaddr *)&at, sizeof at) == 0;
    close(fd);
    return accepts || waitpid(s->pid, NULL, WNOHANG) == s->pid;
}

static void nats_server_exec(const char *conf)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, 1);
    dup2(null, 2);
    execlp("nats-server", "nats-server", "-c", conf, (char *)NULL);
    _exit(127);
}

bool nats_server_start(struct nats_server *s, const char *extra)
{
    char conf[512], text[2048];
    if (access("/usr/sbin/nats-server", X_OK) && access("/usr/bin/nats-server", X_OK))
        return false;
    if (!s->port)
        s->port = nats_server_bind(0);
    snprintf(s->url, sizeof s->url, "nats://127.0.0.1:%d", s->port);
    snprintf(s->store, sizeof s->store, "%s/js", tap_tmpdir());
    snprintf(conf, sizeof conf, "%s/nats.conf", tap_tmpdir());
    const int len = snprintf(text, sizeof text,
                             "listen: \"127.0.0.1:%d\"\njetstream { store_dir: \"%s\" }\n%s\n",
                             s->port, s->store, extra);
    tap_spew(conf, text, (size_t)len);
    s->pid = fork();
    if (s->pid == 0)
        nats_server_exec(conf);
    return tap_wait(nats_server_accepts, s, 20000);
}

void nats_server_stop(struct nats_server *s)
{
    int status;
    kill(s->pid, SIGSTOP);
    while (waitpid(s->pid, &status, WUNTRACED) == s->pid && !WIFSTOPPED(status))
        continue;
}

void nats_server_kill(struct nats_server *s)
{
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
}

struct nats_client *nats_server_connect(struct nats_server *s, struct loop *loop,
                                        void (*changed)(void *ctx, bool connected,
                                                        const char *text))
{
    struct tc_err err = {0};
    if (!nats_server_start(s, "")) {
        skip(1, "no nats-server");
        return NULL;
    }
    const char *const urls[] = {s->url, NULL};
    struct nats_client *const client = nats_client_new(
        &(struct nats_client_spec){.loop = loop, .urls = urls, .name = "test", .changed = changed},
        &err);
    if (!client)
        bail("%s", err_format(&err));
    return client;
}
