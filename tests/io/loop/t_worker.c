/* SPDX-License-Identifier: MIT
 * The worker: jobs on another thread, in order, each told on the loop's. */
#include "io/loop/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "tap/tap.h"

#define JOBS 1000

struct task {
    struct worker *w;
    pthread_t on; /* the thread of `work` */
    int number;
    bool again;
};

static struct {
    pthread_t loop;
    atomic_int worked; /* jobs whose work came in order */
    int told;          /* and whose `done` did */
    bool wrong_thread;
} seen;

static void work(void *arg)
{
    struct task *const t = arg;
    t->on = pthread_self();
    if (atomic_load(&seen.worked) == t->number)
        atomic_fetch_add(&seen.worked, 1);
}

static void done(void *arg)
{
    struct task *const t = arg;
    seen.wrong_thread |= !pthread_equal(pthread_self(), seen.loop);
    seen.wrong_thread |= pthread_equal(t->on, seen.loop);
    if (seen.told == t->number)
        seen.told++;
    if (!t->again)
        return;
    t->again = false;
    t->number = seen.told;
    worker_submit(t->w, work, done, t);
}

static void reset(void)
{
    seen.loop = pthread_self();
    atomic_store(&seen.worked, 0);
    seen.told = 0;
}

static void ask(struct worker *w, struct task *tasks, int n)
{
    for (int i = 0; i < n; i++) {
        tasks[i] = (struct task){.w = w, .number = i};
        worker_submit(w, work, done, &tasks[i]);
    }
}

static void test_order(struct loop *l)
{
    static struct task tasks[JOBS];
    reset();
    struct worker *const w = worker_new(l);
    ask(w, tasks, JOBS);
    loop_run(l);
    is_int(seen.told, JOBS, "the loop runs until all is told, in order");
    is_int(atomic_load(&seen.worked), JOBS, "and was done in order");
    ok(!seen.wrong_thread, "work on the worker's thread, done on the loop's");
    tasks[0].number = JOBS;
    worker_submit(w, work, NULL, &tasks[0]);
    loop_run(l);
    worker_free(w);
    is_int(atomic_load(&seen.worked), JOBS + 1, "one that nobody is told of is done, too");
    is_int(seen.told, JOBS, "and nobody is told");
}

static void test_free(struct loop *l)
{
    static struct task tasks[JOBS];
    reset();
    struct worker *const w = worker_new(l);
    ask(w, tasks, JOBS);
    tasks[JOBS - 1].again = true;
    worker_free(w);
    is_int(seen.told, JOBS + 1, "the end finishes all, what a done asked for, too");
    loop_run(l);
    is_int(seen.told, JOBS + 1, "once");
    worker_free(NULL);
    worker_free(worker_new(l));
    is_int(seen.told, JOBS + 1, "a worker without work tells nothing");
}

static void look(void *arg)
{
    *(int *)arg = atomic_load(&seen.worked);
}

struct asker {
    struct worker *w;
    int worked; /* as it was when the answer came */
};

static void nothing(void *arg)
{
    (void)arg;
}

static void ask_and_wait(void *arg)
{
    struct asker *const a = arg;
    worker_run_sync(a->w, look, &a->worked);
}

static void test_wait(struct loop *l)
{
    static struct task tasks[JOBS];
    reset();
    struct worker *const w = worker_new(l);
    ask(w, tasks, JOBS);
    int worked = 0;
    worker_run_sync(w, look, &worked);
    is_int(worked, JOBS, "who waits comes after all that was asked before");
    is_int(seen.told, 0, "and nothing is told meanwhile");
    loop_run(l);
    is_int(seen.told, JOBS, "but later");
    reset();
    struct asker a = {.w = w};
    worker_submit(w, nothing, ask_and_wait, &a);
    ask(w, tasks, 2);
    worker_free(w);
    is_int(a.worked, 2, "a done may wait, too");
    is_int(seen.told, 2, "and loses nothing");
}

/* A job that waits until the test has gone on, or for two seconds. */
struct blocked_job {
    pthread_mutex_t mu;
    pthread_cond_t released;
    bool may_end, is_late;
};

static void wait_for_release(void *arg)
{
    struct blocked_job *const b = arg;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 2;
    pthread_mutex_lock(&b->mu);
    while (!b->may_end && !b->is_late)
        b->is_late = pthread_cond_timedwait(&b->released, &b->mu, &end) != 0;
    pthread_mutex_unlock(&b->mu);
}

static void test_without_done(struct loop *l)
{
    struct blocked_job b = {.mu = PTHREAD_MUTEX_INITIALIZER, .released = PTHREAD_COND_INITIALIZER};
    struct worker *const w = worker_new(l);
    worker_submit(w, wait_for_release, NULL, &b);
    loop_run(l);
    pthread_mutex_lock(&b.mu);
    b.may_end = true;
    pthread_cond_signal(&b.released);
    pthread_mutex_unlock(&b.mu);
    worker_free(w);
    ok(!b.is_late, "the loop does not wait for a job without a callback");
}

int main(void)
{
    plan_lazy();
    struct loop *const l = loop_new();
    test_order(l);
    test_free(l);
    test_wait(l);
    test_without_done(l);
    loop_free(l);
    return 0;
}
