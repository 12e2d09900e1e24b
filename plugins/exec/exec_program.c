/* SPDX-License-Identifier: MIT
 * The child process: its start, its standard files and its end. Writes never block; unwritten lines
 * wait in memory, bounded by the window of unacknowledged events. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec.h"

#define READ_SIZE ((size_t)64 << 10)
/* Limit per call, so that a program that writes continuously does not block the loop of the
 * process. */
#define READS_MAX 16
#define LOG_LINE_MAX ((size_t)2048)
#define STOP_MS 3000
#define FUTILE_MAX 4              /* runs without progress until the host restarts this process */
#define RESTART_MS ((int64_t)500) /* delay before the second such run; doubled each time */
#define EXIT_STATUS 3             /* exit status of this process when its program has failed */
#define PROGRAM_DIRS "/usr/local/bin:/usr/bin:/bin" /* search path of programs, and their PATH */

extern char **environ;

/* ---- start ---- */

static size_t program_count(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

/* Variables of the option are first, because getenv returns the first match. NULL: out of
 * memory. */
static char **program_make_env(const struct exec *e, const struct exec_options *o)
{
    const size_t own = program_count(o->env),
                 inherited = program_count((const char *const *)environ);
    char **const env = calloc(own + inherited + 5, sizeof *env);
    size_t n = 0;
    for (size_t i = 0; env && i < own; i++)
        env[n++] = strdup(o->env[i]);
    if (!env || asprintf(&env[n], "TURNCAST_INSTANCE=%s", e->inst->name) < 0)
        return NULL;
    n++;
    env[n++] = strdup("TURNCAST_EXEC=1");
    for (size_t i = 0; i < inherited; i++)
        env[n++] = strdup(environ[i]);
    env[n++] = strdup("PATH=" PROGRAM_DIRS);
    return env;
}

static void program_free_env(char **env)
{
    for (char **at = env; at && *at; at++)
        free(*at);
    free(env);
}

/* Runs in the child, which is killed when this process ends; the host kills its process group. */
__attribute__((__noreturn__)) static void program_become(const struct exec_options *o, char **env,
                                                         const int files[3])
{
    static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGTTOU, SIGXFSZ};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++)
        signal(handled[i], SIG_DFL);
    for (int i = 0; i < 3; i++)
        if (dup2(files[i], i) < 0)
            _exit(127);
    close_range(3, ~0U, 0);
    setenv("PATH", PROGRAM_DIRS, 1); /* for execvpe: the host has checked the name in these
                                      * directories */
    execvpe(o->command[0], (char *const *)(uintptr_t)o->command, env);
    dprintf(STDERR_FILENO, "E! cannot start %s: %s\n", o->command[0], strerror(errno));
    _exit(127);
}

/* The lowest numbers are reserved for the child's files. */
static int program_open_pipes(int in[2], int out[2], int err[2])
{
    int *const all[] = {in, out, err};
    for (size_t i = 0; i < 3; i++) {
        if (pipe2(all[i], O_CLOEXEC) < 0)
            return -1;
        for (int end = 0; end < 2; end++) {
            const int lifted = fcntl(all[i][end], F_DUPFD_CLOEXEC, 16);
            close(all[i][end]);
            all[i][end] = lifted;
            if (lifted < 0)
                return -1;
        }
    }
    return 0;
}

static void program_set_pipe_ends(struct exec_program *p, const int in[2], const int out[2],
                                  const int err[2])
{
    close(in[0]);
    close(out[1]);
    close(err[1]);
    p->in = in[1];
    p->out = out[0];
    p->err = err[0];
    const int mine[] = {p->in, p->out, p->err};
    for (size_t i = 0; i < 3; i++)
        fcntl(mine[i], F_SETFL, O_NONBLOCK);
}

int exec_program_start(struct exec *e)
{
    const struct exec_options *const o = e->inst->conf;
    e->program.began_ms = exec_now_ms();
    e->program.has_progressed = e->program.has_ended = false;
    e->program.complaint[0] = '\0';
    int in[2], out[2], err[2];
    char **const env = program_make_env(e, o);
    if (!env || program_open_pipes(in, out, err) < 0) {
        tc_log(e->inst, TC_ERR, "cannot create pipes: %s", strerror(errno));
        program_free_env(env);
        return -1;
    }
    e->program.pid = fork();
    if (e->program.pid == 0)
        program_become(o, env, (const int[]){in[0], out[1], err[1]});
    program_free_env(env);
    if (e->program.pid < 0) {
        tc_log(e->inst, TC_ERR, "cannot start %s: %s", o->command[0], strerror(errno));
        return -1;
    }
    program_set_pipe_ends(&e->program, in, out, err);
    return tc_watch(e->inst, e->program.out) < 0 || tc_watch(e->inst, e->program.err) < 0 ? -1 : 0;
}

/* ---- end ---- */

static void program_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void program_free(struct exec *e)
{
    struct exec_program *const p = &e->program;
    if (p->out >= 0)
        tc_unwatch(e->inst, p->out);
    if (p->err >= 0)
        tc_unwatch(e->inst, p->err);
    program_close(&p->in);
    program_close(&p->out);
    program_close(&p->err);
    exec_text_free(&p->to);
    exec_text_free(&p->from);
    exec_text_free(&p->from_stderr);
}

/* Exit status 78: the configuration of the program is wrong (sysexits.h); a restart does not
 * help. */
#define EXIT_CONFIGURATION 78
#define NEVER_MS ((int64_t)365 * 86400 * 1000)

/* Delay of the restart, in ms. The host keeps unacknowledged events. */
static int64_t program_restart_delay(const struct exec *e, int status, const char *how)
{
    const struct exec_program *const p = &e->program;
    const int64_t delay = p->futile ? RESTART_MS << (p->futile - 1) : 0;
    if (status == EXIT_CONFIGURATION) {
        tc_log(e->inst, TC_ERR,
               "the program %s; it is not started again, because the status says that its "
               "configuration is wrong: correct it, then run: turncast restart %s",
               how, e->inst->name);
        return NEVER_MS;
    }
    tc_log(e->inst, TC_ERR,
           "the program %s; starting it again in %.1f s (unacknowledged events: %zu)", how,
           (double)delay / 1000, e->n_entries);
    return delay;
}

/* A program without progress is restarted after a delay; finally, the host takes over, which
 * detects whether an event is the cause. */
static void program_plan_restart(struct exec *e, int status, const char *how)
{
    struct exec_program *const p = &e->program;
    p->futile = p->has_progressed ? 0 : p->futile + 1;
    if (p->futile > FUTILE_MAX || !e->hello.is_known)
        exec_program_fail(e, "%s", how);
    const int64_t delay = program_restart_delay(e, status, how);
    program_free(e);
    exec_chat_abandon(e);
    e->hello.is_known = false;
    e->pinged_ms = 0;
    e->bad_lines = 0;
    p->restart_ms = exec_now_ms() + delay;
    exec_window_update(e);
    exec_program_restart_due(e, exec_now_ms());
    exec_connector_set_timer(e);
}

void exec_program_restart_due(struct exec *e, int64_t now_ms)
{
    struct exec_program *const p = &e->program;
    if (!p->restart_ms || now_ms < p->restart_ms)
        return;
    p->restart_ms = 0;
    if (exec_program_start(e) < 0)
        exec_program_fail(e, "cannot be started");
}

/* Text for the exit. *exited: exit status, or -1. False: it still runs. */
static bool program_describe_end(const struct exec *e, char *text, size_t size, int *exited)
{
    int status = 0;
    pid_t pid = 0;
    for (int i = 0; i < 20 && pid == 0; i++) {
        pid = waitpid(e->program.pid, &status, WNOHANG);
        if (pid == 0)
            poll(NULL, 0, 10); /* its output closes just before its exit */
    }
    const char *const why = e->program.complaint;
    if (pid <= 0)
        snprintf(text, size, "closed its standard output");
    else if (WIFSIGNALED(status))
        snprintf(text, size, "was terminated by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "exited with status %d%s%s", WEXITSTATUS(status), *why ? ": " : "",
                 why);
    *exited = pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return pid > 0;
}

void exec_program_fail(struct exec *e, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (e->program.err >= 0)
        exec_program_read(e, e->program.err);
    tc_log(e->inst, TC_ERR, "the program %s%s", text,
           e->is_starting ? "" : "; restarting the instance");
    _exit(EXIT_STATUS);
}

void exec_program_stop(struct exec *e)
{
    struct exec_program *const p = &e->program;
    e->is_stopping = true;
    if (p->in >= 0)
        exec_message_stop(e, STOP_MS);
    const int64_t until = exec_now_ms() + STOP_MS;
    while (!p->has_ended && exec_now_ms() < until) {
        exec_program_flush(e);
        if (p->to.at == p->to.len)
            program_close(&p->in);
        exec_program_wait(e, 20);
    }
    while (p->pid > 0 && waitpid(p->pid, NULL, WNOHANG) == 0 && exec_now_ms() < until)
        poll(NULL, 0, 10);
    program_free(e);
}

/* ---- to the program ---- */

void exec_program_flush(struct exec *e)
{
    struct exec_program *const p = &e->program;
    while (p->in >= 0 && p->to.at < p->to.len) {
        const ssize_t n = write(p->in, p->to.p + p->to.at, p->to.len - p->to.at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            program_close(&p->in); /* its exit is detected on its output */
        if (n < 0)
            break;
        exec_text_consume(&p->to, (size_t)n);
        if (!e->hello.delivers)
            e->acked_ms = exec_now_ms(); /* without acknowledgements, reading counts as progress */
    }
}

/* ---- from the program ---- */

/* Errors in the forms of common interpreters. */
static void exec_program_record_complaint(struct exec *e, const char *line)
{
    snprintf(e->program.complaint, sizeof e->program.complaint, "%.*s",
             (int)sizeof e->program.complaint - 1, line);
}

static void program_log_line(struct exec *e, const char *line)
{
    static const struct {
        const char *prefix;
        enum tc_level level;
    } levels[] = {{"E! ", TC_ERR}, {"W! ", TC_WARN}, {"I! ", TC_INFO}, {"D! ", TC_DEBUG}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (strncmp(line, levels[i].prefix, 3) == 0) {
            tc_log(e->inst, levels[i].level, "%s", line + 3);
            if (levels[i].level == TC_ERR)
                exec_program_record_complaint(e, line + 3);
            return;
        }
    if (!*line)
        return;
    tc_log(e->inst, TC_INFO, "%s", line);
    exec_program_record_complaint(e, line);
}

/* Texts that programs print when a system call failed with EACCES or EPERM. */
static void program_explain_refusal(struct exec *e, const char *line)
{
    if (e->has_explained || (!strstr(line, strerror(EACCES)) && !strstr(line, strerror(EPERM))))
        return;
    e->has_explained = true;
    tc_log(e->inst, TC_WARN,
           "the sandbox may have refused this: %.120s: files to read belong into read, files to "
           "write into paths, TCP ports into ports of the instance; see turncast-exec(7)",
           line);
}

/* Logs a line without an end in pieces. */
static void exec_program_read_log(struct exec *e)
{
    struct exec_text *const t = &e->program.from_stderr;
    while (t->at < t->len) {
        char *const from = t->p + t->at, *const end = memchr(from, '\n', t->len - t->at);
        const size_t len = end ? (size_t)(end - from) : t->len - t->at;
        if (!end && len < LOG_LINE_MAX && !e->program.has_ended)
            break;
        char line[LOG_LINE_MAX + 1];
        const size_t kept = len < LOG_LINE_MAX ? len : LOG_LINE_MAX;
        memcpy(line, from, kept);
        line[kept] = '\0';
        program_log_line(e, line);
        program_explain_refusal(e, line);
        exec_text_consume(t, end && kept == len ? len + 1 : kept);
    }
}

void exec_program_read_lines(struct exec *e)
{
    struct exec_text *const t = &e->program.from;
    while (t->at < t->len && !(e->is_starting && e->hello.is_known)) {
        const char *const from = t->p + t->at;
        const char *const end = memchr(from, '\n', t->len - t->at);
        const size_t len = end ? (size_t)(end - from) : t->len - t->at;
        if (len > EXEC_LINE_MAX)
            exec_program_fail(e, "wrote a line of more than %zu bytes", EXEC_LINE_MAX);
        if (!end)
            break;
        exec_command_run(e, from, len);
        exec_text_consume(t, len + 1);
    }
}

/* False: nothing to read now. */
static bool program_read_some(struct exec *e, int fd, struct exec_text *into)
{
    char bytes[READ_SIZE];
    const ssize_t n = read(fd, bytes, sizeof bytes);
    if (n < 0)
        return errno == EINTR;
    if (n == 0 && fd == e->program.out)
        e->program.has_ended = true;
    if (n == 0 && fd == e->program.err) {
        tc_unwatch(e->inst, fd);
        program_close(&e->program.err);
    }
    exec_text_add(into, bytes, (size_t)n);
    return n > 0;
}

void exec_program_read(struct exec *e, int fd)
{
    struct exec_program *const p = &e->program;
    if (fd == p->err) {
        for (int i = 0; i < READS_MAX && program_read_some(e, fd, &p->from_stderr); i++)
            exec_program_read_log(e);
        return;
    }
    for (int i = 0; i < READS_MAX && !p->has_ended && program_read_some(e, fd, &p->from); i++)
        exec_program_read_lines(e);
    if (!p->has_ended || e->is_stopping)
        return;
    if (p->err >= 0)
        exec_program_read(e, p->err);
    char text[64 + EXEC_COMPLAINT_MAX];
    int status;
    if (program_describe_end(e, text, sizeof text, &status))
        program_plan_restart(e, status, text);
    else
        exec_program_fail(e, "%s", text);
}

bool exec_program_wait(struct exec *e, int64_t ms)
{
    struct exec_program *const p = &e->program;
    const bool has_output = p->to.at < p->to.len;
    struct pollfd fds[] = {
        {.fd = p->out, .events = POLLIN},
        {.fd = p->err, .events = POLLIN},
        {.fd = has_output ? p->in : -1, .events = POLLOUT},
    };
    if (poll(fds, 3, (int)ms) <= 0)
        return false;
    if (p->err >= 0 && fds[1].revents)
        exec_program_read(e, p->err);
    if (fds[0].revents)
        exec_program_read(e, p->out);
    exec_program_flush(e);
    return fds[0].revents;
}
