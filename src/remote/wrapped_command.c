/* SPDX-License-Identifier: MIT
 * Starts and reaps the command. */
#include "remote/wrapped_command.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

int wrapped_command_start(struct wrapped_command *c, char *const *argv, struct tc_err *err)
{
    extern char **environ;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    *c = (struct wrapped_command){0};
    const int error = posix_spawnp(&c->pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (!error)
        return 0;
    c->pid = 0;
    return err_set_errno(err, error, argv[0], "cannot execute \"%s\"", argv[0]);
}

static void wrapped_command_reap(struct wrapped_command *c, int flags)
{
    pid_t got;
    while (c->pid && (got = waitpid(c->pid, &c->status, flags)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        c->pid = 0;
    }
}

bool wrapped_command_runs(struct wrapped_command *c)
{
    wrapped_command_reap(c, WNOHANG);
    return c->pid;
}

int wrapped_command_wait(struct wrapped_command *c)
{
    wrapped_command_reap(c, 0);
    return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}
