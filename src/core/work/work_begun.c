/* SPDX-License-Identifier: MIT
 * Takes over a shared turn whose agent an earlier life of this host has begun, while the journal
 * has the turn as one that waits, because the journal was restored from a backup. The agent is not
 * begun again. Loop thread only. */
#include <string.h>

#include "base/sys/log.h"
#include "core/work/work_turn.h"
#include "event/json/json_reader.h"

#define RETRY_MS 1000

bool work_is_former_life(const struct work *w, const struct bus_origin *from)
{
    return strcmp(from->host, w->link->names.host) == 0 && strcmp(from->boot, w->link->boot) != 0;
}

bool work_turn_was_begun(const struct work_turn *t)
{
    return work_is_former_life(t->share->work, &t->claim);
}

/* The instance finds in it the progress message that the earlier life has shown. */
static void work_turn_restore_memory(const struct work_turn *t, struct str stored)
{
    struct arena arena = {0};
    const struct str raw = bus_message_text(stored, "/text");
    if (raw.len)
        journal_async_memory_put(t->share->spec.journal, t->source, t->id,
                                 json_reader_unescape(&arena, raw, NULL), NULL, NULL);
    arena_fini(&arena);
}

static void work_turn_on_memory_read(void *ctx, enum nats_client_result result,
                                     const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    t->awaits_reply = false;
    if (!bus_link_is_answered(result, m)) {
        loop_timer_set(t->timer, RETRY_MS); /* reads the claim again */
        return;
    }
    if (m->sequence)
        work_turn_restore_memory(t, m->data);
    log_write(LOG_WARN, "bus",
              "turn %s: its agent was begun before this host was restarted, but the journal has it "
              "as waiting; not beginning it again",
              t->id);
    t->state = TURN_CLAIMED;
    work_turn_go_on(t);
}

/* The claim stays, because it tells every host that the agent must not begin again. So it has no
 * revision with which it could be deleted. */
void work_turn_take_begun(struct work_turn *t, const struct bus_origin *claim)
{
    t->claim = *claim;
    t->revision = 0;
    work_turn_read(t, "mem", work_turn_on_memory_read);
}
