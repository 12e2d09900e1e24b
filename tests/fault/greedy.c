/* SPDX-License-Identifier: MIT
 * A plugin that takes more of the machine than it may: threads, processor time, room in its folder.
 * It begins in init, and logs what the system says to it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <turncast/plugin.h>

#define MIB ((size_t)1 << 20)

struct conf {
    int64_t sleeping, spinning; /* threads */
    int64_t files, size;        /* so many of so many MiB */
};
static const struct tc_option options[] = {
    TC_OPTION(struct conf, sleeping, "0", 0, "threads that sleep"),
    TC_OPTION(struct conf, spinning, "0", 0, "threads that compute"),
    TC_OPTION(struct conf, files, "0", 0, "files to write"),
    TC_OPTION(struct conf, size, "1", 0, "MiB of each"),
    {0},
};

static void *sleep_on(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static void *spin(void *arg)
{
    for (volatile unsigned n = 0;; n++)
        ;
    return arg;
}

static void start_threads(int64_t count, void *(*work)(void *arg))
{
    for (int64_t i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL) == 0)
            pthread_detach(thread);
    }
}

/* 0, or the errno. */
static int write_file(const char *path, int64_t mib)
{
    int error = 0;
    char *const block = calloc(1, MIB);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        error = errno;
    for (int64_t i = 0; !error && i < mib; i++)
        if (write(fd, block, MIB) != (ssize_t)MIB)
            error = errno ? errno : EFBIG;
    if (fd >= 0)
        close(fd);
    free(block);
    return error;
}

static int init(struct tc_instance *inst)
{
    const struct conf *const conf = inst->conf;
    const char *const dir = getenv("TMPDIR");
    start_threads(conf->sleeping, sleep_on);
    start_threads(conf->spinning, spin);
    for (int64_t i = 0; dir && i < conf->files; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%lld", dir, (long long)i);
        errno = 0;
        const int error = write_file(path, conf->size);
        tc_log(inst, TC_WARN, "file %lld: %s", (long long)i, error ? strerror(error) : "written");
    }
    return 0;
}

TURNCAST_PLUGIN(.name = "greedy", .version = "1", .summary = "takes more than it may",
                .conf_size = sizeof(struct conf), .options = options, .init = init,
                .sink = TC_SINK(.on_event = NULL));
