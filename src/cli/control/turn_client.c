/* SPDX-License-Identifier: MIT
 * Selects a turn, and runs the process that feeds its events to a replay. */
#include "cli/control/turn_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command_table.h"
#include "cli/control_client.h"
#include "cli/oneshot_host.h"

#define TURNS_MAX "1000" /* limit of GET /turns */

static const char *turn_client_text(const json_t *turn, const char *key)
{
    const char *const text = json_string_value(json_object_get(turn, key));
    return text ? text : "";
}

bool turn_client_is_over(const json_t *turn)
{
    const char *const state = turn_client_text(turn, "state");
    return strcmp(state, "waiting") != 0 && strcmp(state, "running") != 0;
}

static json_t *turn_client_fetch(const struct conf *conf, const char *path)
{
    struct control_response c;
    if (control_client_call(&c, conf, "GET", path, NULL) < 0)
        return NULL;
    json_t *const body = control_client_check(&c, conf) == 0 ? json_incref(c.body) : NULL;
    control_client_fini(&c);
    return body;
}

json_t *turn_client_list(const struct conf *conf)
{
    return turn_client_fetch(conf, "/turns?limit=" TURNS_MAX);
}

json_t *turn_client_get(const struct conf *conf, const char *id)
{
    CLEANUP_FREE char *path = xasprintf("/turns/%s", id);
    return turn_client_fetch(conf, path);
}

/* The list begins with the newest turn. */
static const json_t *turn_client_find_running(const json_t *turns)
{
    size_t i;
    const json_t *turn, *found = NULL;
    json_array_foreach(turns, i, turn)
    {
        if (strcmp(turn_client_text(turn, "state"), "running") == 0)
            found = turn;
    }
    return found;
}

const json_t *turn_client_find(const json_t *list, const char *id)
{
    const json_t *const turns = json_object_get(list, "turns");
    const json_t *turn, *found = NULL;
    size_t i, n = 0;
    if (!id)
        return turn_client_find_running(turns);
    json_array_foreach(turns, i, turn)
    {
        if (strncmp(turn_client_text(turn, "id"), id, strlen(id)) != 0)
            continue;
        found = turn;
        n++;
    }
    if (n == 1)
        return found;
    if (n == 0)
        fprintf(stderr, "turncast: unknown turn \"%s\"; see turncast turns\n", id);
    else
        fprintf(stderr, "turncast: several turns match \"%s\" (%zu); see turncast turns\n", id, n);
    return NULL;
}

/* ---- events ---- */

struct turn_client_sink {
    int fd;
    bool broken; /* the reading process has exited */
};

static bool turn_client_write_line(void *ctx, const char *line, size_t len)
{
    struct turn_client_sink *const s = ctx;
    CLEANUP_BUF struct buf text = {0};
    buf_add(&text, line, len);
    buf_add_char(&text, '\n');
    for (size_t done = 0; done < text.len && !s->broken;) {
        const ssize_t n = write(s->fd, text.p + done, text.len - done);
        s->broken = n < 0 && errno != EINTR;
        done += n > 0 ? (size_t)n : 0;
    }
    return !s->broken;
}

static int write_one(const struct conf *conf, const char *id, struct turn_client_sink *sink)
{
    struct tc_err err = {0};
    CLEANUP_FREE char *path = xasprintf("/turns/%s/events", id);
    const int rc = control_client_follow(conf, path, turn_client_write_line, sink, &err);
    if (rc < 0)
        command_conf_print_error(&err);
    return rc;
}

/* The next running turn that was not followed before. */
struct turn_client_wait {
    json_t *seen; /* ids of followed turns, as the keys of an object */
    char *id;     /* owned */
};

static bool wait_for_turn(void *ctx, const char *line, size_t len)
{
    struct turn_client_wait *const w = ctx;
    json_t *const turn = json_loadb(line, len, 0, NULL);
    const char *const id = turn_client_text(turn, "id");
    if (*id && !json_object_get(w->seen, id)) {
        if (strcmp(turn_client_text(turn, "state"), "running") == 0)
            w->id = xstrdup(id);
        else if (turn_client_is_over(turn))
            json_object_set_new(w->seen, id, json_true());
    }
    json_decref(turn);
    return !w->id;
}

static int write_next(const struct conf *conf, struct turn_client_wait *w,
                      struct turn_client_sink *sink)
{
    struct tc_err err = {0};
    w->id = NULL;
    if (control_client_follow(conf, "/turns/events", wait_for_turn, w, &err) < 0) {
        command_conf_print_error(&err);
        return -1;
    }
    if (!w->id) /* the host shuts down */
        return -1;
    json_object_set_new(w->seen, w->id, json_true());
    const int rc = write_one(conf, w->id, sink);
    free(w->id);
    return rc;
}

int turn_client_write_events(const struct conf *conf, const char *id, bool on, int fd)
{
    struct turn_client_sink sink = {.fd = fd};
    if (id)
        return write_one(conf, id, &sink);
    struct turn_client_wait w = {.seen = json_object()};
    int rc;
    do
        rc = write_next(conf, &w, &sink);
    while (on && rc == 0 && !sink.broken);
    json_decref(w.seen);
    return rc;
}

/* ---- display on the terminal ---- */

static int replay_events(const struct args *args, char **tokens, int n_tokens)
{
    char cli[] = "cli", input[] = "-";
    char *cli_alone[] = {cli};
    char **const operands = xcalloc((size_t)n_tokens + 2, sizeof *operands);
    struct args shown = {.config = args->config,
                         .agent = args->agent,
                         .verbose = args->verbose,
                         .dialect = "turncast",
                         .plugins = args->n_plugins ? args->plugins : cli_alone,
                         .n_plugins = args->n_plugins ? args->n_plugins : 1,
                         .operands = operands,
                         .n_operands = n_tokens + 1};
    operands[0] = input;
    for (int i = 0; i < n_tokens; i++)
        operands[i + 1] = tokens[i];
    const int status = cmd_replay.run(&shown);
    free(operands);
    return status;
}

int turn_client_show(const struct args *args, const struct conf *conf, const char *id, bool on,
                     char **tokens, int n_tokens)
{
    int ends[2], failed = 0;
    if (pipe(ends) < 0) {
        fprintf(stderr, "turncast: cannot create a pipe: %s\n", strerror(errno));
        return EXIT_TURN_ERROR;
    }
    const pid_t feeder = fork();
    if (feeder == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        close(ends[0]);
        _exit(turn_client_write_events(conf, id, on, ends[1]) < 0);
    }
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    const int status = feeder < 0 ? EXIT_TURN_ERROR : replay_events(args, tokens, n_tokens);
    close(STDIN_FILENO);
    if (feeder > 0) {
        kill(feeder, SIGTERM);
        waitpid(feeder, &failed, 0);
    }
    return WIFEXITED(failed) && WEXITSTATUS(failed) ? EXIT_TURN_ERROR : status;
}
