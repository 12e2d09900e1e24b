/* SPDX-License-Identifier: MIT
 * Owns the instance of these tests, and reads the file that it writes. */
#include "plugin/puppet_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "plugin/events.h"
#include "tap/tap.h"

char puppet_path[512];

static struct conf_option options[5];

void puppet_set_option(size_t i, const char *key, const char *value)
{
    options[i] = (struct conf_option){
        (char *)(uintptr_t)key, (char *)(uintptr_t)value, NULL, 9, NULL, false};
}

struct conf_instance puppet_spec_of(const char *name)
{
    memset(options, 0, sizeof options);
    snprintf(puppet_path, sizeof puppet_path, "%s/%s.out", tap_tmpdir(), name);
    unlink(puppet_path);
    puppet_set_option(0, "path", puppet_path);
    return kit_spec(name, options);
}

struct channel *puppet_start(const char *name)
{
    kit_forget();
    kit_logged();
    const struct conf_instance spec = puppet_spec_of(name);
    return kit_start(&spec, "puppet", &kit_host);
}

void *puppet_open_turn(struct channel *c, const char *id)
{
    return c->ops->open(c, &(struct channel_turn){.id = id, .agent = "claude"});
}

void puppet_say(struct channel *c, void *turn, const char *text)
{
    static uint64_t seq = 1;
    c->ops->send(c, turn, narration(++seq, text, "m"));
}

void puppet_cast(struct channel *c, void *turn, enum tc_kind kind)
{
    c->ops->send(c, turn, box_of(kind, 1));
}

/* Returns the contents of the file, valid until the next call. */
const char *puppet_written(void)
{
    static char *text;
    size_t n;
    free(text);
    text = access(puppet_path, F_OK) == 0 ? tap_slurp(puppet_path, &n) : strdup("");
    return text;
}

size_t puppet_count(const char *all, const char *text)
{
    size_t n = 0;
    for (const char *p = all; (p = strstr(p, text)); p += strlen(text))
        n++;
    return n;
}

bool puppet_has_written(void *text)
{
    return strstr(puppet_written(), text);
}

bool puppet_wait_written(const char *text)
{
    return kit_wait(puppet_has_written, (void *)(uintptr_t)text);
}

struct outbound_reply *puppet_reply_to(const struct outbound_request *l, const char *body,
                                       bool last)
{
    struct outbound_reply *const r = xcalloc(1, sizeof *r);
    r->about = outbound_request_ref((struct outbound_request *)(uintptr_t)l);
    r->request = l->id;
    r->last = last;
    r->verdict.next = TC_NEXT_DONE;
    r->reply = (struct tc_reply){
        .tag = arena_strdup(&r->arena, l->http.tag),
        .outcome = TC_OK,
        .status = 200,
        .body = arena_strdup(&r->arena, body),
        .body_len = strlen(body),
        .path = "/saved",
        .error = "none",
        .attempts = 3,
        .in_doubt = 1,
        .http = &r->about->http,
    };
    return r;
}

const struct outbound_request *puppet_newest_request(void)
{
    for (size_t i = kit_n_batches; i-- > 0;)
        if (kit_batches[i]->count)
            return kit_batches[i]->requests[kit_batches[i]->count - 1];
    bail("no request");
}

const struct callback_batch *puppet_newest_batch(void)
{
    return kit_batches[kit_n_batches - 1];
}
