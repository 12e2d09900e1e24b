/* SPDX-License-Identifier: MIT
 * Owns the process of a server written in Python and the pipes to it. */
#include "io/script_server.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "tap/tap.h"

#define DEADLINE_MS 30000

void script_server_read(struct script_server *s)
{
    const ssize_t n = read(s->from, buf_reserve(&s->said, 65536), 65536);
    if (n > 0)
        s->said.len += (size_t)n;
    s->said.p[s->said.len] = '\0';
}

struct script_server script_server_start(const char *script, const char *certificate,
                                         const char *key)
{
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
        bail("no pipe");
    struct script_server s = {.pid = fork(), .to = to[1], .from = from[0]};
    if (s.pid == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        execlp("python3", "python3", tap_source(script), certificate, key, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    while (!s.said.len || !strchr(s.said.p, '\n')) {
        const size_t before = s.said.len;
        script_server_read(&s);
        if (s.said.len == before)
            bail("%s does not start", script);
    }
    sscanf(s.said.p, "PORT %d", &s.port);
    fcntl(s.from, F_SETFL, O_NONBLOCK);
    return s;
}

void script_server_stop(struct script_server *s)
{
    close(s->to);
    waitpid(s->pid, NULL, 0);
    script_server_read(s);
    close(s->from);
    buf_fini(&s->said);
}

bool script_server_has_said(struct script_server *s, struct loop *loop, const char *text)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    script_server_read(s);
    while (!strstr(s->said.p, text) && clock_mono_ms() < until) {
        loop_run_once(loop, 5);
        script_server_read(s);
    }
    const bool said = strstr(s->said.p, text);
    if (!said)
        diag("said: %s", s->said.p);
    return said;
}
