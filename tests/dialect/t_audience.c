/* SPDX-License-Identifier: MIT
 * Every recording as every audience sees it, with every set of switches, with switches that change
 * in the middle, and with audiences strewn over its events at random: for each of them the promises
 * hold, nothing is seen that is not meant for them, and what is taken back is what they saw. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialect/cast.h"
#include "tap/tap.h"
#include "turn/visibility/view_pairing.h"

#define SEED 20260728

static const char *const audiences[] = {NULL, "internal", "dashboard", "operator"};

enum { AUDIENCES = sizeof audiences / sizeof *audiences, SETS = 17, IDS_MAX = 256 };

/* Ids of texts, of which a recording has few; those beyond are not looked at. */
struct ids {
    char *at[IDS_MAX];
    size_t n;
};

/* One class of consumers. */
struct class
{
    const char *audience;
    struct visibility v;
    bool toggles; /* its switches change at random */
    struct showing showing;
    struct promise promise;
    uint64_t seen;
    bool hides_final;
    struct ids texts;
    char why[300];
};

struct audience_run {
    struct guard guard;
    bool strews; /* audiences over the events */
    uint32_t random;
    struct class classes[AUDIENCES * SETS];
};

static void ids_fini(struct ids *ids)
{
    while (ids->n)
        free(ids->at[--ids->n]);
}

static bool ids_have(const struct ids *ids, const char *id)
{
    for (size_t i = 0; i < ids->n; i++)
        if (strcmp(ids->at[i], id) == 0)
            return true;
    return false;
}

static void ids_add(struct ids *ids, const char *id)
{
    if (id && ids->n < IDS_MAX && !ids_have(ids, id))
        ids->at[ids->n++] = strdup(id);
}

static void class_fail(struct class *c, const struct event *ev, const char *what)
{
    if (!*c->why)
        snprintf(c->why, sizeof c->why, "audience %s, event %llu (%s): %s",
                 c->audience ? c->audience : "user", (unsigned long long)ev->meta.seq,
                 kind_name(ev->kind), what);
}

/* Set 16 toggles; the others are all combinations of four switches. */
static struct visibility switches_of(unsigned set)
{
    return (struct visibility){.thinking = set & 1,
                               .tools = set >> 1 & 1,
                               .text = SHOW_ON,
                               .narration = set >> 2 & 1,
                               .final = set >> 3 & 1};
}

static bool is_meant_for(const struct class *c, const struct event *ev)
{
    const char *const of_event = ev->meta.audience ? ev->meta.audience : "user";
    return strcmp(of_event, c->audience ? c->audience : "user") == 0;
}

static bool is_code(const struct event *ev, const char *code)
{
    return ev->u.notice.code && strcmp(ev->u.notice.code, code) == 0;
}

/* What ends something that was begun, and what everybody must know. */
static bool may_pass(const struct event *ev)
{
    if (ev->kind == TC_TOOL_RESULT)
        return ev->u.tool_result.is_error || !ev->u.tool_result.content_len;
    if (ev->kind == TC_REQUEST)
        return strcmp(ev->u.request.state, "resolved") == 0;
    if (ev->kind == TC_STEP)
        return strcmp(ev->u.step.state, "end") == 0;
    if (ev->kind == TC_NOTICE)
        return is_code(ev, "retracted") || is_code(ev, "tool_failed");
    return ev->kind == TC_START || ev->kind == TC_FINAL || ev->kind == TC_ERROR ||
           ev->kind == TC_DONE;
}

static const char *retracted(const struct event *ev)
{
    const struct tc_notice *const n = &ev->u.notice;
    const bool is = ev->kind == TC_NOTICE && n->code && strcmp(n->code, "retracted") == 0;
    return is ? n->message_id : NULL;
}

static void check_retraction(struct class *c, const struct event *ev, bool shown)
{
    const char *const id = retracted(ev);
    if (id && c->texts.n < IDS_MAX && shown != ids_have(&c->texts, id))
        class_fail(c, ev, shown ? "takes back what was not shown" : "what was shown stays");
}

/* As the class gets it. */
static void class_get(struct class *c, const struct event *ev, enum visibility_decision view)
{
    CLEANUP_BUF struct buf text = {0};
    struct event draft = *ev;
    draft.u.meta = &draft.meta;
    if (view == VIEW_STRIP)
        visibility_strip(&c->v, &draft);
    else if (view == VIEW_FAILURE)
        visibility_tell_failure(&draft, &text);
    if (!is_meant_for(c, &draft) && !may_pass(&draft))
        class_fail(c, ev, "is not for this audience");
    if (draft.kind == TC_NARRATION)
        ids_add(&c->texts, draft.u.narration.message_id);
    if (draft.kind == TC_THINKING)
        ids_add(&c->texts, draft.u.thinking.message_id);
    draft.meta.seq = ++c->seen;
    /* A final that the switches hide, and what it would have allowed. */
    if (c->hides_final && (draft.kind == TC_DONE || draft.kind == TC_USAGE))
        c->promise.outcome = true;
    promise_see(&c->promise, &draft);
}

static void class_see(struct class *c, const struct event *ev)
{
    const enum visibility_decision view = view_pairing_view(&c->showing, &c->v, c->audience, ev);
    c->hides_final |= view == VIEW_HIDE && ev->kind == TC_FINAL;
    check_retraction(c, ev, view != VIEW_HIDE);
    if (view != VIEW_HIDE)
        class_get(c, ev, view);
}

static void see(void *ctx, struct event *ev)
{
    struct audience_run *const r = ctx;
    for (size_t i = 0; i < AUDIENCES * SETS; i++) {
        struct class *const c = &r->classes[i];
        if (c->toggles)
            c->v = switches_of(cast_random(&r->random) & 15);
        class_see(c, ev);
    }
}

static void to_guard(void *ctx, struct event *ev)
{
    static const char *const strewn[] = {NULL, NULL, "user", "internal", "dashboard", "operator"};
    struct audience_run *const r = ctx;
    if (r->strews)
        ev->meta.audience = strewn[cast_random(&r->random) % (sizeof strewn / sizeof *strewn)];
    guard_feed(&r->guard, ev);
}

static double no_time(void)
{
    return 0;
}

static void feed(struct translator *t, const char *p, size_t len)
{
    const char *const end = p + len;
    while (p < end) {
        const char *const newline = memchr(p, '\n', (size_t)(end - p));
        const char *const stop = newline ? newline : end;
        translator_feed_line(t, p, (size_t)(stop - p), newline != NULL);
        p = stop + 1;
    }
}

static void begin_classes(struct audience_run *r)
{
    for (unsigned i = 0; i < AUDIENCES * SETS; i++)
        r->classes[i] = (struct class){.audience = audiences[i / SETS],
                                       .v = switches_of(i % SETS),
                                       .toggles = i % SETS == SETS - 1};
}

/* The first complaint, in `why`. */
static void end_classes(struct audience_run *r, char why[300])
{
    for (unsigned i = 0; i < AUDIENCES * SETS; i++) {
        struct class *const c = &r->classes[i];
        const char *const broken = promise_end(&c->promise);
        if (!*why && *c->why)
            snprintf(why, 300, "set %u: %.280s", i % SETS, c->why);
        if (!*why && broken)
            snprintf(why, 300, "set %u, audience %s: %.240s", i % SETS,
                     c->audience ? c->audience : "user", broken);
        promise_fini(&c->promise);
        view_pairing_fini(&c->showing);
        ids_fini(&c->texts);
    }
}

static void test_stream(const char *name, const struct dialect *dialect, const char *stream,
                        size_t len, bool strews)
{
    struct audience_run *const r = calloc(1, sizeof *r);
    struct stream_end_info end = {.how = STREAM_EOF};
    struct translator t;
    char why[300] = "";
    r->strews = strews;
    r->random = SEED;
    begin_classes(r);
    guard_init(&r->guard, dialect->name, "turn", see, r);
    r->guard.now = no_time;
    translator_init(&t, dialect, to_guard, r);
    feed(&t, stream, len);
    translator_end(&t, &end);
    guard_end(&r->guard, &end);
    end_classes(r, why);
    ok(!*why, "%s%s", name, strews ? ", audiences at random" : "");
    if (*why)
        diag("%s", why);
    translator_fini(&t);
    guard_fini(&r->guard);
    free(r);
}

static int is_recording(const struct dirent *entry)
{
    const char *const dot = strrchr(entry->d_name, '.');
    return dot && !strstr(entry->d_name, ".in.") &&
           (strcmp(dot, ".jsonl") == 0 || strcmp(dot, ".sse") == 0);
}

static void test_dialect(const struct dialect *dialect)
{
    char folder[4096], relative[512];
    struct dirent **entries;
    snprintf(relative, sizeof relative, "dialects/%s", dialect->name);
    snprintf(folder, sizeof folder, "%s", tap_source(relative));
    const int n = scandir(folder, &entries, is_recording, alphasort);
    for (int i = 0; i < n; i++) {
        char path[8192];
        size_t len;
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        char *const stream = tap_slurp(path, &len);
        test_stream(path + strlen(folder) + 1 - strlen(dialect->name) - 1, dialect, stream, len,
                    false);
        test_stream(path + strlen(folder) + 1 - strlen(dialect->name) - 1, dialect, stream, len,
                    true);
        free(stream);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

static int is_folder(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && dialect_find(entry->d_name);
}

int main(void)
{
    char folder[4096];
    struct dirent **entries;
    plan_lazy();
    snprintf(folder, sizeof folder, "%s", tap_source("dialects"));
    const int n = scandir(folder, &entries, is_folder, alphasort);
    if (n <= 0)
        bail("no dialects in %s", folder);
    for (int i = 0; i < n; i++) {
        test_dialect(dialect_find(entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
    return 0;
}
