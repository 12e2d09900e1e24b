/* SPDX-License-Identifier: MIT
 * A connector whose service is two files: lines "id user chat text" appended to `in` are messages
 * ("cancel user turn" a stop button, "store key text" and "load key -" what it keeps), all it is
 * told is a line of `out`. With `die`, it kills the host instead of dealing with a final. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <turncast/plugin.h>

#define POLL_MS 10

struct conf {
    const char *in, *out;
    bool die;
};

struct state {
    int out;
    long seen; /* bytes of `in` */
};

static const struct tc_option options[] = {
    TC_OPTION(struct conf, in, NULL, TC_REQUIRED, "what people write"),
    TC_OPTION(struct conf, out, NULL, TC_REQUIRED, "what they are told"),
    TC_OPTION(struct conf, die, "false", 0, "kill the host at an outcome"),
    {0},
};

static int tell(struct tc_turn *turn, const char *line)
{
    const struct state *s = turn->inst->state;
    return line && write(s->out, line, strlen(line)) == (ssize_t)strlen(line) ? 0 : -1;
}

static const char *word(enum tc_accepted accepted)
{
    static const char *const words[] = {"accepted", "queued", "command", "known",
                                        "denied",   "full",   "not-kept"};
    return words[accepted];
}

static void take_line(struct tc_turn *lobby, char *line)
{
    struct tc_receipt receipt = {0};
    char *rest = line;
    const char *id = strsep(&rest, " "), *user = strsep(&rest, " "), *chat = strsep(&rest, " ");
    if (!chat)
        return;
    if (strcmp(id, "store") == 0) {
        tc_store(lobby->inst, user, chat);
        return;
    }
    if (strcmp(id, "load") == 0) {
        const char *const text = tc_load(lobby->inst, user);
        tell(lobby, tc_sprint(lobby, "loaded %s %s\n", user, text ? text : "-"));
        return;
    }
    const enum tc_accepted accepted =
        strcmp(id, "cancel") == 0
            ? tc_cancel(lobby, chat, user, &receipt)
            : tc_submit(lobby,
                        TC_INBOUND(.id = id, .user = user, .chat = chat, .text = rest ? rest : "",
                                   .route = tc_json(lobby, "{s:s}", "to", chat)),
                        &receipt);
    tell(lobby,
         tc_sprint(lobby, "%s %s %s %s\n", id, word(accepted), receipt.turn ? receipt.turn : "-",
                   receipt.answer ? receipt.answer : "-"));
}

static int on_wake(struct tc_turn *lobby)
{
    const struct conf *conf = lobby->inst->conf;
    struct state *s = lobby->inst->state;
    char line[4096];
    FILE *f = fopen(conf->in, "re");
    if (f && fseek(f, s->seen, SEEK_SET) == 0)
        while (fgets(line, sizeof line, f) && strchr(line, '\n')) {
            s->seen = ftell(f);
            *strchr(line, '\n') = 0;
            take_line(lobby, line);
        }
    if (f)
        fclose(f);
    tc_wake(lobby, POLL_MS);
    return 0;
}

static int on_start(struct tc_turn *turn, const struct tc_start *start)
{
    return tell(turn, tc_sprint(turn, "start %s %s %s %s\n", turn->conversation,
                                start->resumed ? "resumed" : "new", turn->route ? turn->route : "-",
                                turn->memory ? turn->memory : "-"));
}

static int on_narration(struct tc_turn *turn, const struct tc_narration *n)
{
    tc_remember(turn, n->text);
    return tell(turn, tc_sprint(turn, "says %s %s\n", turn->conversation, n->text));
}

static int on_final(struct tc_turn *turn, const struct tc_final *final)
{
    const struct conf *conf = turn->inst->conf;
    if (conf->die)
        kill(getpid(), SIGKILL);
    return tell(turn, tc_sprint(turn, "final %s %s\n", turn->conversation, final->text));
}

static int on_error(struct tc_turn *turn, const struct tc_error *error)
{
    return tell(turn, tc_sprint(turn, "error %s %s\n", turn->conversation,
                                error->code ? error->code : "-"));
}

static int on_done(struct tc_turn *turn, const struct tc_done *done)
{
    return tell(turn, tc_sprint(turn, "done %s %s\n", turn->conversation, done->reason));
}

static int init(struct tc_instance *inst)
{
    const struct conf *conf = inst->conf;
    struct state *s = inst->state;
    s->out = open(conf->out, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    tc_wake(inst->lobby, 0);
    return s->out < 0 ? -1 : 0;
}

static void teardown(struct tc_instance *inst)
{
    const struct state *s = inst->state;
    close(s->out);
}

TURNCAST_PLUGIN(.name = "talker", .version = "1", .summary = "people as files",
                .flags = TC_DELIVERS, .conf_size = sizeof(struct conf),
                .state_size = sizeof(struct state), .options = options, .init = init,
                .teardown = teardown,
                .sink = TC_SINK(.on_start = on_start, .on_narration = on_narration,
                                .on_final = on_final, .on_error = on_error, .on_done = on_done,
                                .on_wake = on_wake));
