/* SPDX-License-Identifier: MIT
 * Owns the process of the real server and the thread of the fake one. */
#include "fake/redis.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap/tap.h"

#define DEADLINE_MS 20000

/* ---- the real server ---- */

static pid_t server;

bool redis_is_installed(void)
{
    return system("command -v redis-cli >/dev/null && { command -v redis-server ||"
                  " command -v redis-check-rdb; } >/dev/null 2>&1") == 0;
}

const char *redis_socket(void)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/redis.sock", tap_tmpdir());
    return path;
}

static bool answers(void *arg)
{
    (void)arg;
    const char *const said = redis_cli("ping 2>&1");
    return strcmp(said, "PONG") == 0 || strstr(said, "NOAUTH");
}

/* The package redis-tools of Debian has it under another name, and unlike redis-server starts no
 * service when it is installed. */
static void become_server(const char *option, const char *value)
{
    static const char *const names[] = {"redis-server", "redis-check-rdb"};
    for (size_t i = 0; i < 2; i++)
        execlp(names[i], "redis-server", "--port", "0", "--unixsocket", redis_socket(), "--dir",
               tap_tmpdir(), "--save", "", "--appendonly", "yes", "--appendfsync", "always",
               "--databases", "4", option, value, (char *)NULL);
    _exit(127);
}

void redis_start(const char *option, const char *value)
{
    server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!freopen("/dev/null", "w", stdout))
            _exit(126);
        become_server(option, value);
    }
    if (server < 0 || !tap_wait(answers, NULL, DEADLINE_MS))
        bail("redis-server does not answer");
}

void redis_kill(void)
{
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    unlink(redis_socket());
}

const char *redis_cli(const char *format, ...)
{
    static char out[4096];
    char words[1024], line[2048];
    va_list ap;
    va_start(ap, format);
    vsnprintf(words, sizeof words, format, ap);
    va_end(ap);
    snprintf(line, sizeof line, "redis-cli -s %s %s", redis_socket(), words);
    FILE *const f = popen(line, "re");
    const size_t n = f ? fread(out, 1, sizeof out - 1, f) : 0;
    if (f)
        pclose(f);
    out[n && out[n - 1] == '\n' ? n - 1 : n] = 0;
    return out;
}

/* ---- the fake server ---- */

static struct {
    pthread_t thread;
    int fd;
    char path[400];
    pthread_mutex_t mu;
    struct played what; /* guarded by mu */
    unsigned count;     /* guarded by mu */
    int client;         /* guarded by mu; 0: none */
} player = {.mu = PTHREAD_MUTEX_INITIALIZER};

static struct played now(void)
{
    pthread_mutex_lock(&player.mu);
    const struct played what = player.what;
    pthread_mutex_unlock(&player.mu);
    return what;
}

static bool say(int fd, const struct played *what)
{
    const size_t step = what->drips ? 1 : what->size;
    for (size_t at = 0; at < what->size;) {
        const size_t left = what->size - at;
        const ssize_t n = send(fd, what->bytes + at, left < step ? left : step, MSG_NOSIGNAL);
        if (n < 0)
            return false;
        at += (size_t)n;
        if (what->drips)
            usleep(20000);
    }
    return !what->closes;
}

static void serve(int fd)
{
    char heard[65536];
    while (recv(fd, heard, sizeof heard, 0) > 0) {
        const struct played what = now();
        if (!say(fd, &what))
            break;
    }
    pthread_mutex_lock(&player.mu);
    player.client = 0;
    pthread_mutex_unlock(&player.mu);
    close(fd);
}

static void *play(void *arg)
{
    (void)arg;
    for (int fd; (fd = accept4(player.fd, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
        pthread_mutex_lock(&player.mu);
        player.count++;
        player.client = fd;
        pthread_mutex_unlock(&player.mu);
        serve(fd);
    }
    return NULL;
}

const char *redis_play(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(player.path, sizeof player.path, "%s/played.sock", tap_tmpdir());
    snprintf(at.sun_path, sizeof at.sun_path, "%.100s", player.path);
    player.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(player.fd, (const struct sockaddr *)(const void *)&at, sizeof at) < 0 ||
        listen(player.fd, 16) < 0 || pthread_create(&player.thread, NULL, play, NULL) != 0)
        bail("cannot start the fake server: %s", strerror(errno));
    return player.path;
}

void redis_plays(struct played what)
{
    pthread_mutex_lock(&player.mu);
    player.what = what;
    pthread_mutex_unlock(&player.mu);
}

unsigned redis_play_count(void)
{
    pthread_mutex_lock(&player.mu);
    const unsigned n = player.count;
    pthread_mutex_unlock(&player.mu);
    return n;
}

void redis_play_end(void)
{
    pthread_mutex_lock(&player.mu);
    shutdown(player.fd, SHUT_RDWR);
    if (player.client)
        shutdown(player.client, SHUT_RDWR);
    pthread_mutex_unlock(&player.mu);
    pthread_join(player.thread, NULL);
    close(player.fd);
}
