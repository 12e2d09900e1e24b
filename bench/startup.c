/* SPDX-License-Identifier: MIT
 * startup CONNECTORS thread|process: milliseconds from before the start of `turncast replay` to
 * the first line in the first of its connectors, and in the last of them. */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/host.h"
#include "bench/percentile.h"

/* As bench/ticker would have said it: its time is now, before there is a host. */
static void write_stream(const char *path)
{
    struct timespec ts;
    FILE *const f = fopen(path, "we");
    clock_gettime(CLOCK_MONOTONIC, &ts);
    if (!f ||
        fprintf(f,
                "{\"type\":\"assistant\",\"message\":{\"id\":\"msg_0\",\"role\":\"assistant\","
                "\"content\":[{\"type\":\"text\",\"text\":\"0 %" PRIu64 ";\"}]}}\n"
                "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":1,"
                "\"result\":\"1 lines\"}\n",
                (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec) < 0 ||
        fclose(f) != 0)
        err(2, "%s", path);
}

static void become_replay(const char *conf, const char *stream)
{
    char program[500];
    const char *const build = getenv("TURNCAST_BUILDDIR");
    snprintf(program, sizeof program, "%s/turncast", build ? build : ".");
    if (dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO) < 0)
        _exit(126);
    execl(program, program, "replay", "--dialect", "claude", "-c", conf, stream, (char *)NULL);
    warn("%s", program);
    _exit(127);
}

static void replay(const struct oneshot_host *h)
{
    char conf[300], stream[300];
    int status;
    snprintf(conf, sizeof conf, "%s/turncast.conf", h->folder);
    snprintf(stream, sizeof stream, "%s/stream", h->folder);
    write_stream(stream);
    const pid_t pid = fork();
    if (pid == 0)
        become_replay(conf, stream);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        errx(1, "the replay did not end well: see %s", h->folder);
}

int main(int argc, char **argv)
{
    const unsigned long connectors = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    if (connectors - 1 >= 100)
        errx(2, "startup CONNECTORS thread|process");
    const struct host_spec spec = {
        .turns = 1, .connectors = (unsigned)connectors, .isolation = argv[2]};
    struct oneshot_host h;
    uint64_t times[METER_BUCKETS];
    host_prepare(&h, &spec);
    replay(&h);
    if (h.meter->complete != connectors)
        errx(1, "%lu of %lu connectors saw all: see %s", (unsigned long)h.meter->complete,
             connectors, h.folder);
    for (unsigned i = 0; i < METER_BUCKETS; i++)
        times[i] = h.meter->times[i];
    printf("%-20s %12.2f %12.2f ms (first, last)\n", "startup", percentile_us(times, 0) / 1e3,
           percentile_us(times, 1) / 1e3);
    host_forget(&h);
    return 0;
}
