/* SPDX-License-Identifier: MIT
 * The connector of the benchmark: sees whether the lines of bench/ticker come complete and in
 * order, and how long after they were written. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <turncast/plugin.h>

#include "meter.h"

struct conf {
    const char *path;
};

struct state {
    struct meter *meter;
};

struct turn {
    uint64_t lines;
    bool complete;
};

static const struct tc_option options[] = {
    TC_OPTION(struct conf, path, NULL, TC_REQUIRED, "the file of the counters"),
    {0},
};

static struct meter *meter_of(const struct tc_turn *turn)
{
    const struct state *const s = turn->inst->state;
    return s->meter;
}

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void note_line(struct meter *m, struct turn *t, uint64_t number, uint64_t written,
                      uint64_t now)
{
    m->misplaced += number != t->lines;
    t->lines = number + 1;
    m->lines++;
    m->times[meter_bucket(now > written ? now - written : 0)]++;
    if (number > 0)
        return;
    m->running++;
    if (m->running > m->peak)
        m->peak = m->running;
}

/* "NUMBER TIME;", several of them when the host has joined narrations. */
static int on_narration(struct tc_turn *turn, const struct tc_narration *n)
{
    const uint64_t now = now_ns();
    for (const char *at = n->text; *at;) {
        char *end;
        const uint64_t number = strtoull(at, &end, 10);
        const uint64_t written = strtoull(end, &end, 10);
        if (*end != ';')
            return -1;
        note_line(meter_of(turn), turn->state, number, written, now);
        at = end + 1;
    }
    return 0;
}

/* The answer is how many lines there were. */
static int on_final(struct tc_turn *turn, const struct tc_final *f)
{
    struct turn *const t = turn->state;
    t->complete = t->lines > 0 && strtoull(f->text, NULL, 10) == t->lines;
    return 0;
}

static int on_done(struct tc_turn *turn, const struct tc_done *d)
{
    const struct turn *const t = turn->state;
    struct meter *const m = meter_of(turn);
    (void)d;
    m->running -= t->lines > 0;
    ++*(t->complete ? &m->complete : &m->failed);
    return 0;
}

static int init(struct tc_instance *inst)
{
    const struct conf *const conf = inst->conf;
    struct state *const s = inst->state;
    const int fd = open(conf->path, O_RDWR | O_CLOEXEC);
    void *const p = mmap(NULL, sizeof(struct meter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (p == MAP_FAILED)
        return -1;
    s->meter = p;
    return 0;
}

static void teardown(struct tc_instance *inst)
{
    const struct state *const s = inst->state;
    munmap(s->meter, sizeof *s->meter);
}

TURNCAST_PLUGIN(.name = "meter", .version = "1.0", .summary = "measures how lines arrive",
                .conf_size = sizeof(struct conf), .state_size = sizeof(struct state),
                .turn_size = sizeof(struct turn), .options = options, .init = init,
                .teardown = teardown,
                .sink = TC_SINK(.on_narration = on_narration, .on_final = on_final,
                                .on_done = on_done));
