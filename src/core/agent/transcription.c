/* SPDX-License-Identifier: MIT
 * Processes the lines of a prompt, and runs the transcription program for sound files. */
#include "core/agent/transcription.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/bytes/utf8.h"
#include "base/cleanup.h"
#include "base/sound_name.h"
#include "base/sys/log.h"
#include "core/agent/launch.h"
#include "core/agent/stderr_tail.h"
#include "io/http/client/download.h"
#include "io/process/process.h"
#include "text/file_line.h"

#define REASON_MAX ((size_t)200)

struct transcription {
    struct loop *loop;
    char *const *command;
    const struct conf_agent *agent;
    char *dir, *turn, *prompt;
    const char *at; /* position of the next line of the prompt */
    size_t n_files;
    struct buf text; /* the processed lines so far */
    struct process *process;
    struct loop_timer *timer;
    struct buf out;
    struct stderr_tail err;
    bool too_long, timed_out, cancelled;
    void (*done)(void *ctx, struct str prompt);
    void *ctx;
};

/* ---- lines ---- */

/* Whether the line is about a sound file. A download has a random path without an extension, so its
 * original name decides (io/http/client/download.h, chat/chat_files.c). A person can write such a
 * line, too: a name does not make any other file one. */
static bool transcription_is_sound(const char *path, const char *name)
{
    return sound_name_is(path) || (download_is_name(strrchr(path, '/') + 1) && sound_name_is(name));
}

/* The path in the line of a sound file below the directory; owned. NULL: another line. */
static char *transcription_path_of(const char *dir, const char *line, size_t len)
{
    const size_t below = strlen(dir);
    struct file_line f;
    if (!file_line_read(&f, (struct str){line, len}))
        return NULL;
    char *const path = xstrndup(f.path.p, f.path.len);
    CLEANUP_FREE char *name = xstrndup(f.name.p, f.name.len);
    const bool ends = f.rest.len && f.rest.p[f.rest.len - 1] == ')';
    const bool inside = strncmp(path, dir, below) == 0 && path[below] == '/' && !strstr(path, "..");
    if (inside && transcription_is_sound(path, ends ? name : ""))
        return path;
    free(path);
    return NULL;
}

bool transcription_is_wanted(const char *dir, struct str prompt)
{
    for (const char *at = prompt.p; at && *at;) {
        const size_t len = strcspn(at, "\n");
        CLEANUP_FREE char *path = transcription_path_of(dir, at, len);
        if (path)
            return true;
        at += len + (at[len] == '\n');
    }
    return false;
}

static size_t transcription_line_len(const struct transcription *t)
{
    return strcspn(t->at, "\n");
}

/* Skips the current line, which `text` replaces. */
static void transcription_replace_line(struct transcription *t, struct str text)
{
    const size_t len = transcription_line_len(t);
    buf_add(&t->text, text.p, text.len);
    t->at += len;
    if (*t->at)
        buf_add_char(&t->text, *t->at++);
}

/* ---- the program ---- */

static void transcription_process_next(struct transcription *t);

static void transcription_end_process(struct transcription *t)
{
    loop_timer_set(t->timer, -1);
    process_free(t->process);
    t->process = NULL;
    stderr_tail_fini(&t->err);
    t->err = (struct stderr_tail){0};
}

/* Keeps the line, with a note for the agent. */
static void transcription_fail(struct transcription *t, const char *reason)
{
    const size_t len = transcription_line_len(t);
    CLEANUP_BUF struct buf line = {0};
    log_write(LOG_WARN, "host", "turn %s: cannot transcribe a voice message: %s: %s", t->turn,
              t->command[0], reason);
    buf_add(&line, t->at, len - 1);
    buf_add_str(&line, ": not transcribed]");
    transcription_replace_line(t, (struct str){line.p, line.len});
}

static struct str transcription_trimmed(const struct buf *text)
{
    const char *p = text->p ? text->p : "", *end = p + text->len;
    while (p < end && (unsigned char)*p <= ' ')
        p++;
    while (end > p && (unsigned char)end[-1] <= ' ')
        end--;
    return (struct str){p, (size_t)(end - p)};
}

/* NULL: the output is valid text. */
static const char *transcription_find_fault(const struct transcription *t, int status,
                                            struct buf *reason)
{
    const struct str text = transcription_trimmed(&t->out);
    if (t->cancelled)
        return "stopped";
    if (t->timed_out)
        return "no result within 120 s";
    if (t->too_long)
        return "output exceeds 64 KiB";
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        buf_add_str(reason, "failed: ");
        stderr_tail_copy_last_line(reason, &t->err, REASON_MAX);
        return reason->p;
    }
    if (!text.len)
        return "no output";
    return utf8_is_valid(text.p, text.len) && !memchr(text.p, 0, text.len) ? NULL
                                                                           : "output is not UTF-8";
}

static void transcription_on_exit(void *ctx, int status)
{
    struct transcription *const t = ctx;
    CLEANUP_BUF struct buf reason = {0};
    const char *const fault = transcription_find_fault(t, status, &reason);
    transcription_end_process(t);
    if (fault)
        transcription_fail(t, fault);
    else
        transcription_replace_line(t, transcription_trimmed(&t->out));
    transcription_process_next(t);
}

static void transcription_on_failed(void *ctx, const struct tc_err *err)
{
    struct transcription *const t = ctx;
    CLEANUP_FREE char *why = xstrdup(err->text);
    transcription_end_process(t);
    transcription_fail(t, why);
    transcription_process_next(t);
}

static void transcription_on_out(void *ctx, const char *p, size_t n)
{
    struct transcription *const t = ctx;
    if (t->out.len + n <= TRANSCRIPTION_BYTES) {
        buf_add(&t->out, p, n);
    } else if (!t->too_long) {
        t->too_long = true;
        process_kill_tree(t->process);
    }
}

static void transcription_on_err(void *ctx, const char *p, size_t n)
{
    stderr_tail_append(&((struct transcription *)ctx)->err, p, n);
}

static void transcription_on_out_end(void *ctx)
{
    (void)ctx; /* its exit status counts */
}

static void transcription_on_timer(void *arg)
{
    struct transcription *const t = arg;
    if (t->process) {
        t->timed_out = true;
        process_kill_tree(t->process);
    } else {
        transcription_process_next(t);
    }
}

static char **transcription_build_argv(const struct transcription *t, char *path)
{
    size_t n = 0;
    while (t->command[n])
        n++;
    char **const argv = xcalloc(n + 2, sizeof *argv);
    memcpy(argv, t->command, n * sizeof *argv);
    argv[n] = path;
    return argv;
}

static void transcription_run(struct transcription *t, char *path)
{
    static const struct process_events events = {transcription_on_failed, transcription_on_out,
                                                 transcription_on_err, transcription_on_out_end,
                                                 transcription_on_exit};
    struct tc_err err = {0};
    char **const argv = transcription_build_argv(t, path);
    char **const env = launch_build_env(t->agent, environ, t->turn);
    CLEANUP_FREE char *mark = launch_process_mark(t->turn);
    buf_reset(&t->out);
    t->too_long = t->timed_out = false;
    t->process = process_spawn(t->loop,
                               &(struct process_spec){.argv = (const char *const *)argv,
                                                      .env = (const char *const *)env,
                                                      .cwd = t->agent->cwd,
                                                      .mark = mark,
                                                      .user = t->agent->user,
                                                      .limits = &t->agent->limits},
                               &events, t, &err);
    free(argv);
    launch_free(env);
    if (!t->process) {
        transcription_fail(t, err.text);
        loop_timer_set(t->timer, 0);
        return;
    }
    process_close_stdin(t->process);
    loop_timer_set(t->timer, TRANSCRIPTION_MS);
}

static void transcription_process_next(struct transcription *t)
{
    while (*t->at) {
        const size_t len = transcription_line_len(t);
        CLEANUP_FREE char *path = t->n_files < TRANSCRIPTION_FILES && !t->cancelled
                                      ? transcription_path_of(t->dir, t->at, len)
                                      : NULL;
        if (path) {
            t->n_files++;
            transcription_run(t, path);
            return;
        }
        transcription_replace_line(t, (struct str){t->at, len});
    }
    t->done(t->ctx, (struct str){t->text.p ? t->text.p : "", t->text.len});
}

/* ---- create and free ---- */

struct transcription *transcription_start(struct loop *l, const struct transcription_spec *spec,
                                          void (*done)(void *ctx, struct str prompt), void *ctx)
{
    struct transcription *const t = xcalloc(1, sizeof *t);
    *t = (struct transcription){
        .loop = l,
        .command = spec->command,
        .agent = spec->agent,
        .dir = xstrdup(spec->dir),
        .turn = xstrdup(spec->turn),
        .prompt = xstrndup(spec->prompt.p, spec->prompt.len),
        .timer = loop_timer_new(l, transcription_on_timer, t),
        .done = done,
        .ctx = ctx,
    };
    t->at = t->prompt;
    loop_timer_set(t->timer, 0);
    return t;
}

void transcription_cancel(struct transcription *t)
{
    t->cancelled = true;
    if (t->process)
        process_kill_tree(t->process);
}

void transcription_free(struct transcription *t)
{
    if (!t)
        return;
    transcription_end_process(t);
    loop_timer_free(t->timer);
    buf_fini(&t->text);
    buf_fini(&t->out);
    free(t->dir);
    free(t->turn);
    free(t->prompt);
    free(t);
}
