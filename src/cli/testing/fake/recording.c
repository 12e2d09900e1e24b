/* SPDX-License-Identifier: MIT
 * Runs translator and guard over a file, and delivers the events to a fake host. */
#include "cli/testing/fake/recording.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "turn/guard.h"
#include "turn/translator.h"

struct recording {
    struct fake_host *host;
    struct fake_turn *turn;
    struct translator translator;
    struct guard guard;
};

static void recording_on_event(void *ctx, struct event *ev)
{
    const struct recording *const r = ctx;
    if (ev->kind != TC_STATE && ev->kind != TC_RAW)
        fake_host_send(r->host, r->turn, ev);
}

static void recording_on_draft(void *ctx, struct event *ev)
{
    guard_feed(&((struct recording *)ctx)->guard, ev);
}

static int recording_read(struct recording *r, FILE *f, const char *path, struct tc_err *err)
{
    CLEANUP_FREE char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = getline(&line, &cap, f)) >= 0;) {
        const bool complete = n > 0 && line[n - 1] == '\n';
        translator_feed_line(&r->translator, line, (size_t)n - complete, complete);
    }
    if (ferror(f))
        return err_set(err, path, "cannot read");
    if (translator_is_unmatched(&r->translator))
        return err_set(err, path, "no dialect matches the recording");
    return 0;
}

int recording_play(struct fake_host *host, const char *id, const char *path, struct tc_err *err)
{
    struct stream_end_info end = {.how = STREAM_EOF,
                                  .code = "agent_no_result",
                                  .message = "the recording ends without a result"};
    FILE *const f = fopen(path, "re");
    if (!f)
        return err_set_errno(err, errno, path, "cannot open");
    struct recording r = {.host = host, .turn = fake_host_open(host, id, NULL, NULL, NULL)};
    translator_init(&r.translator, NULL, recording_on_draft, &r);
    guard_init(&r.guard, "recording", r.turn->id, recording_on_event, &r);
    const int rc = recording_read(&r, f, path, err);
    fclose(f);
    translator_end(&r.translator, &end);
    guard_end(&r.guard, &end);
    translator_fini(&r.translator);
    guard_fini(&r.guard);
    return rc;
}
