/* SPDX-License-Identifier: MIT
 * Tests of the worker: jobs run on another thread in order, and their callbacks on the thread of
 * the loop. */
#include "io/loop/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "tap/tap.h"

#define JOBS 1000

struct task {
    struct worker *w;
    pthread_t on; /* the thread that ran `work` */
    int number;
    bool again;
};

static struct {
    pthread_t loop;
    atomic_int worked; /* jobs whose work ran in order */
    int called;        /* jobs whose callback ran in order */
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
    if (seen.called == t->number)
        seen.called++;
    if (!t->again)
        return;
    t->again = false;
    t->number = seen.called;
    worker_submit(t->w, work, done, t);
}

static void reset(void)
{
    seen.loop = pthread_self();
    atomic_store(&seen.worked, 0);
    seen.called = 0;
}

static void submit_tasks(struct worker *w, struct task *tasks, int n)
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
    submit_tasks(w, tasks, JOBS);
    loop_run(l);
    is_int(seen.called, JOBS, "the loop runs until all callbacks have run, in order");
    is_int(atomic_load(&seen.worked), JOBS, "the jobs ran in order");
    ok(!seen.wrong_thread,
       "jobs run on the thread of the worker, callbacks on the thread of the loop");
    tasks[0].number = JOBS;
    worker_submit(w, work, NULL, &tasks[0]);
    loop_run(l);
    worker_free(w);
    is_int(atomic_load(&seen.worked), JOBS + 1, "a job without a callback runs");
    is_int(seen.called, JOBS, "a job without a callback calls none");
}

static void test_free(struct loop *l)
{
    static struct task tasks[JOBS];
    reset();
    struct worker *const w = worker_new(l);
    submit_tasks(w, tasks, JOBS);
    tasks[JOBS - 1].again = true;
    worker_free(w);
    is_int(seen.called, JOBS + 1,
           "freeing a worker finishes all jobs, also those that a callback submits");
    loop_run(l);
    is_int(seen.called, JOBS + 1, "each callback runs once");
    worker_free(NULL);
    worker_free(worker_new(l));
    is_int(seen.called, JOBS + 1, "a worker without jobs calls no callback");
}

static void read_worked(void *arg)
{
    *(int *)arg = atomic_load(&seen.worked);
}

struct sync_job {
    struct worker *w;
    int worked; /* the number of finished jobs that it has seen */
};

static void do_nothing(void *arg)
{
    (void)arg;
}

static void run_sync(void *arg)
{
    struct sync_job *const a = arg;
    worker_run_sync(a->w, read_worked, &a->worked);
}

static void test_wait(struct loop *l)
{
    static struct task tasks[JOBS];
    reset();
    struct worker *const w = worker_new(l);
    submit_tasks(w, tasks, JOBS);
    int worked = 0;
    worker_run_sync(w, read_worked, &worked);
    is_int(worked, JOBS, "a synchronous job runs after the jobs that were submitted before");
    is_int(seen.called, 0, "no callback runs during a synchronous job");
    loop_run(l);
    is_int(seen.called, JOBS, "the callbacks run later");
    reset();
    struct sync_job a = {.w = w};
    worker_submit(w, do_nothing, run_sync, &a);
    submit_tasks(w, tasks, 2);
    worker_free(w);
    is_int(a.worked, 2, "a callback may run a synchronous job");
    is_int(seen.called, 2, "all callbacks run");
}

/* A job that waits until the test releases it, or for two seconds. */
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
