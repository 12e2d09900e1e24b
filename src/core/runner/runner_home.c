/* SPDX-License-Identifier: MIT
 * Makes this host the home of a conversation whose turn it runs, so that its next turns come here.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "core/bus/bus_kv.h"
#include "core/runner/runner_internal.h"
#include "core/work/work_move.h"

struct runner_home {
    struct runner *runner;
    struct buf key;
};

static void runner_home_on_read(void *ctx, enum nats_client_result result,
                                const struct nats_client_message *m)
{
    struct runner_home *const home = ctx;
    struct bus_link *const link = home->runner->link;
    struct bus_kv_entry entry;
    bus_kv_read_entry(link, BUS_HOMES, result, m, &entry);
    if ((entry.result == BUS_KV_DONE || entry.result == BUS_KV_NONE) &&
        !work_home_is_here(link, &entry)) {
        const struct bus_origin from = bus_link_next_origin(link);
        bus_kv_put_origin(link, BUS_HOMES, home->key.p, &from, entry.revision, NULL, NULL);
    }
    buf_fini(&home->key);
    free(home);
}

void runner_store_home(struct runner *r, const char *sessions, const char *conversation)
{
    struct runner_home *const home = xcalloc(1, sizeof *home);
    home->runner = r;
    work_home_key(&home->key, sessions, conversation);
    bus_kv_get(r->link, BUS_HOMES, home->key.p, runner_home_on_read, home);
}
