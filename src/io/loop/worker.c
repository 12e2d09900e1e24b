/* SPDX-License-Identifier: MIT
 * Owns the worker's thread, the queue of jobs, and the queue of finished jobs. */
#include "io/loop/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/invariant.h"

struct worker_job {
    STAILQ_ENTRY(worker_job) next;
    void (*work)(void *arg);
    void (*done)(void *arg); /* or NULL */
    void *arg;
};

STAILQ_HEAD(worker_job_list, worker_job);

struct worker {
    /* used by the loop thread */
    pthread_t thread;
    int wake_fd; /* eventfd that counts finished jobs */
    struct loop_fd *wake;
    size_t under_way; /* jobs whose `done` was not called yet */
    /* lock: mu */
    pthread_mutex_t mu;
    pthread_cond_t job_added, job_finished;
    struct worker_job_list todo, over;
    bool stop;
};

static struct worker_job *worker_pop_job(struct worker_job_list *q)
{
    struct worker_job *const job = STAILQ_FIRST(q);
    if (job)
        STAILQ_REMOVE_HEAD(q, next);
    return job;
}

/* The next job, or NULL if the worker has to stop. */
static struct worker_job *worker_wait_for_job(struct worker *w)
{
    pthread_mutex_lock(&w->mu);
    while (STAILQ_EMPTY(&w->todo) && !w->stop)
        pthread_cond_wait(&w->job_added, &w->mu);
    struct worker_job *const job = worker_pop_job(&w->todo);
    pthread_mutex_unlock(&w->mu);
    return job;
}

static void worker_post_result(struct worker *w, struct worker_job *job)
{
    pthread_mutex_lock(&w->mu);
    STAILQ_INSERT_TAIL(&w->over, job, next);
    pthread_cond_signal(&w->job_finished);
    pthread_mutex_unlock(&w->mu);
    const uint64_t one = 1;
    /* EAGAIN: the counter is full, so the loop has been woken already. */
    if (write(w->wake_fd, &one, sizeof one) < 0)
        return;
}

static void *worker_thread_main(void *arg)
{
    struct worker *const w = arg;
    for (struct worker_job *job; (job = worker_wait_for_job(w));) {
        job->work(job->arg);
        if (job->done)
            worker_post_result(w, job);
        else
            free(job);
    }
    return NULL;
}

/* Calls `done` of finished jobs, one at a time, because a `done` may add jobs, or wait for one. */
static void worker_run_completions(struct worker *w)
{
    for (;;) {
        pthread_mutex_lock(&w->mu);
        struct worker_job *const job = worker_pop_job(&w->over);
        pthread_mutex_unlock(&w->mu);
        if (!job)
            return;
        ASSERT(w->under_way > 0);
        if (--w->under_way == 0)
            loop_fd_set(w->wake, 0);
        job->done(job->arg);
        free(job);
    }
}

static void worker_on_wake(void *arg, unsigned ready)
{
    struct worker *const w = arg;
    uint64_t count;
    (void)ready;
    if (read(w->wake_fd, &count, sizeof count) > 0)
        worker_run_completions(w);
}

/* Blocks signals, which the loop handles. */
static int worker_start_thread(struct worker *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(&w->thread, NULL, worker_thread_main, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

struct worker *worker_new(struct loop *loop)
{
    struct worker *const w = xcalloc(1, sizeof *w);
    STAILQ_INIT(&w->todo);
    STAILQ_INIT(&w->over);
    pthread_mutex_init(&w->mu, NULL);
    pthread_cond_init(&w->job_added, NULL);
    pthread_cond_init(&w->job_finished, NULL);
    w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->wake_fd < 0 || worker_start_thread(w) != 0)
        alloc_exit_exhausted("a thread for the disk");
    pthread_setname_np(w->thread, "tc-disk");
    w->wake = loop_fd_new(loop, w->wake_fd, 0, worker_on_wake, w);
    return w;
}

void worker_set_name(struct worker *w, const char *name)
{
    pthread_setname_np(w->thread, name);
}

void worker_submit(struct worker *w, void (*work)(void *arg), void (*done)(void *arg), void *arg)
{
    ASSERT(work);
    ASSERT(!pthread_equal(w->thread, pthread_self()));
    struct worker_job *const job = xmalloc(sizeof *job);
    *job = (struct worker_job){.work = work, .done = done, .arg = arg};
    if (done && w->under_way++ == 0)
        loop_fd_set(w->wake, LOOP_READ);
    pthread_mutex_lock(&w->mu);
    STAILQ_INSERT_TAIL(&w->todo, job, next);
    pthread_mutex_unlock(&w->mu);
    pthread_cond_signal(&w->job_added); /* the thread can lock the mutex at once */
}

struct worker_sync_job {
    struct worker *worker;
    void (*work)(void *arg);
    void *arg;
    bool over; /* protected by the worker's lock */
};

static void worker_run_sync_job(void *arg)
{
    struct worker_sync_job *const v = arg;
    v->work(v->arg);
    pthread_mutex_lock(&v->worker->mu);
    v->over = true;
    pthread_cond_signal(&v->worker->job_finished);
    pthread_mutex_unlock(&v->worker->mu);
}

void worker_run_sync(struct worker *w, void (*work)(void *arg), void *arg)
{
    struct worker_sync_job v = {.worker = w, .work = work, .arg = arg};
    worker_submit(w, worker_run_sync_job, NULL, &v);
    pthread_mutex_lock(&w->mu);
    while (!v.over)
        pthread_cond_wait(&w->job_finished, &w->mu);
    pthread_mutex_unlock(&w->mu);
}

static void worker_wait_for_completions(struct worker *w)
{
    while (w->under_way) {
        pthread_mutex_lock(&w->mu);
        while (STAILQ_EMPTY(&w->over))
            pthread_cond_wait(&w->job_finished, &w->mu);
        pthread_mutex_unlock(&w->mu);
        worker_run_completions(w);
    }
}

void worker_free(struct worker *w)
{
    if (!w)
        return;
    worker_wait_for_completions(w);
    ASSERT(!w->under_way);
    pthread_mutex_lock(&w->mu);
    w->stop = true;
    pthread_cond_signal(&w->job_added);
    pthread_mutex_unlock(&w->mu);
    pthread_join(w->thread, NULL); /* when the jobs without a `done` are complete, too */
    ASSERT(STAILQ_EMPTY(&w->todo) && STAILQ_EMPTY(&w->over));
    loop_fd_free(w->wake);
    close(w->wake_fd);
    pthread_cond_destroy(&w->job_added);
    pthread_cond_destroy(&w->job_finished);
    pthread_mutex_destroy(&w->mu);
    free(w);
}
