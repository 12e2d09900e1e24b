/* SPDX-License-Identifier: MIT
 * Fuzz target: any bytes as a configuration file; it is taken whole, with sane values, or refused
 * with a place and a reason. What is taken is the same when it is read again. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libconfig 1.5 loses the text it was reading when the file breaks off in it. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libconfig.so";
}

static const char *path_of_file(void)
{
    static char path[64];
    if (!*path) {
        umask(077);
        snprintf(path, sizeof path, "/dev/shm/turncast-fuzz-conf.%d", (int)getpid());
    }
    return path;
}

static void write_file(const uint8_t *data, size_t size)
{
    const int fd = open(path_of_file(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
}

static void check(const struct conf *c)
{
    if (!c->file || !c->plugin_dirs || !c->state_dir)
        abort();
    for (size_t i = 0; i < c->n_agents; i++) {
        const struct conf_agent *const a = &c->agents[i];
        if (!a->name || !a->command || !*a->command || a->max_line <= 0 || a->attempts < 1)
            abort();
    }
    for (size_t i = 0; i < c->n_instances; i++) {
        const struct conf_instance *const inst = &c->instances[i];
        if (!inst->name || !inst->plugin || inst->queue_events < 1 || inst->queue_bytes < 1 ||
            !conf_instance_equal(inst, inst))
            abort();
        for (const int64_t *port = inst->ports; port && *port; port++)
            if (*port < 1 || *port > 65535)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tc_err err = {0};
    write_file(data, size);
    struct conf *const c = conf_load(path_of_file(), &err);
    if (c) {
        struct conf *const again = conf_load(path_of_file(), &err);
        check(c);
        if (!again || again->n_instances != c->n_instances || again->n_agents != c->n_agents)
            abort();
        for (size_t i = 0; i < c->n_instances; i++)
            if (!conf_instance_equal(&c->instances[i], &again->instances[i]))
                abort();
        conf_unref(again);
        conf_unref(c);
    } else if (!*err.text || !*err.place) {
        abort();
    }
    unlink(path_of_file());
    return 0;
}
