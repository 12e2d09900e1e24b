/* SPDX-License-Identifier: MIT
 * Backend for child processes: passes each call to process.h. */
#include "core/agent/agent_backend.h"

static void agent_backend_write(void *run, const char *bytes, size_t n)
{
    process_write(run, bytes, n);
}

static void agent_backend_close_stdin(void *run)
{
    process_close_stdin(run);
}

static void agent_backend_signal(void *run, int signo)
{
    process_signal(run, signo);
}

static unsigned agent_backend_kill_tree(void *run)
{
    return process_kill_tree(run);
}

static unsigned agent_backend_count_killed(void *run)
{
    return process_count_killed(run);
}

static pid_t agent_backend_pid(void *run)
{
    return process_pid(run);
}

static void agent_backend_free(void *run)
{
    process_free(run);
}

const struct agent_backend agent_backend_child = {
    agent_backend_write,     agent_backend_close_stdin,  agent_backend_signal,
    agent_backend_kill_tree, agent_backend_count_killed, agent_backend_pid,
    agent_backend_free};
