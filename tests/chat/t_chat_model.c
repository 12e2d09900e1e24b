/* SPDX-License-Identifier: MIT
 * Explores every interleaving of one turn at one service: what the service shows, what may still
 * arrive late, what the engine knows and what is on disk. Faults are replies that are lost
 * (executed, not executed, executed late), replies that do not confirm, refusals, and a person who
 * deletes the progress message; the host may be killed at any time. The delivery of the outcome is
 * chat_delivery_next itself, the progress message and native streams move along their own tables.
 *
 * At a service with native streams the answer has two halves. The first is appended while the turn
 * runs, the second comes with the end of the stream; or the outcome is a message.
 *
 * At rest: the outcome is visible or a dead letter; there are never two copies without a mark;
 * copies are at most one more than the doubts, and exactly one with keys or a search; no progress
 * message is left that could be known; nothing is given up while there is another attempt. */
#include "chat/chat_model.h"

/* ---- the set of worlds ---- */

void model_add_world(struct explored *e, const struct world *w)
{
    if (e->count == e->cap) {
        e->cap = e->cap ? 2 * e->cap : 4096;
        e->worlds = realloc(e->worlds, e->cap * sizeof *e->worlds);
        e->table_size = 4 * e->cap;
        free(e->table);
        e->table = calloc(e->table_size, sizeof *e->table);
        for (size_t i = 0; i < e->count; i++) {
            size_t at = hash_bytes(HASH_START, (const char *)&e->worlds[i], sizeof *w);
            while (e->table[at % e->table_size])
                at++;
            e->table[at % e->table_size] = i + 1;
        }
    }
    size_t at = hash_bytes(HASH_START, (const char *)w, sizeof *w);
    for (; e->table[at % e->table_size]; at++)
        if (memcmp(&e->worlds[e->table[at % e->table_size] - 1], w, sizeof *w) == 0)
            return;
    e->worlds[e->count++] = *w;
    e->table[at % e->table_size] = e->count;
}

/* ---- the service ---- */

static uint8_t create(const struct explored *e, struct world *w, struct shown what, uint8_t key)
{
    if (e->setup.idempotency == TC_IDEMPOTENCY_KEY && w->keys[key])
        return w->keys[key];
    if (w->count == MESSAGES)
        bail("too many messages");
    w->shown[w->count++] = what;
    w->keys[key] = w->count;
    return w->count;
}

static void replace(struct world *w, uint8_t id, struct shown what)
{
    if (id && w->shown[id - 1].kind)
        w->shown[id - 1] = what;
}

bool model_is_open(const struct world *w, uint8_t id)
{
    return id && w->shown[id - 1].kind == STREAM_MESSAGE && w->shown[id - 1].open;
}

void model_append(struct world *w, uint8_t id, const struct shown *what, bool ends)
{
    if (!model_is_open(w, id))
        return;
    w->shown[id - 1].halves |= what->halves;
    w->shown[id - 1].keyed |= what->keyed;
    w->shown[id - 1].open = !ends;
}

void model_arrive(const struct explored *e, struct world *w, const struct late_op *op)
{
    if (op->how == OP_EDIT)
        replace(w, op->at, op->what);
    else if (op->how == OP_CREATE)
        create(e, w, op->what, op->key);
    else
        model_append(w, op->at, &op->what, op->how == OP_END);
}

static uint8_t find(const struct world *w, uint8_t kind)
{
    for (uint8_t i = 0; i < w->count; i++)
        if (w->shown[i].kind == kind)
            return (uint8_t)(i + 1);
    return 0;
}

/* A reply is lost: the operation was executed, was not, or will be later. `next` continues. */
void model_lose(struct explored *e, const struct world *w, const struct late_op *op,
                void (*next)(struct explored *, struct world *))
{
    for (int way = 0; w->faults && way < 3; way++) {
        struct world n = *w;
        n.faults--;
        if (way == 0)
            model_arrive(e, &n, op);
        else if (way == 2 && n.late_count < LATE)
            n.late[n.late_count++] = *op;
        next(e, &n);
    }
}

/* ---- the outcome ---- */

static void move_live(struct world *w, enum chat_live_event event)
{
    w->live = (uint8_t)chat_live_next((enum chat_live_state)w->live, event);
}

void model_end_turn(struct explored *e, struct world *w)
{
    if (!w->id && w->memory != CREATING)
        w->id = w->memory;
    move_live(w, CHAT_LIVE_ON_CLOSE);
    w->ended = w->row = 1;
    w->row_live = w->id;
    w->row_state = CHAT_POSTING;
    if (e->setup.finalize_edit && e->setup.can_edit && w->id) {
        w->row_state = CHAT_EDITING;
        w->row_message = w->id;
        w->row_confirm = w->doubt || !w->began;
    }
    if (e->setup.streams)
        model_end_streams(e, w);
}

static void arrived(struct explored *e, struct world *w, bool edited)
{
    w->row = 0;
    if (edited) {
        if ((w->row_confirm || w->doubt || !w->began) && !e->setup.no_confirm) {
            w->confirm = w->row_message;
            w->confirm_marked = w->row_marked;
        }
        w->id = w->memory = 0;
    } else if (w->id) {
        w->clean = CLEAN_DELETE;
        w->clean_id = w->id;
    } else if (w->memory == CREATING && e->setup.idempotency != TC_IDEMPOTENCY_NONE) {
        w->clean = CLEAN_LEARN;
    }
}

/* A result of the row, decided by the engine. */
void model_take(struct explored *e, const struct world *w, enum tc_result_kind kind, bool answered)
{
    struct world n = *w;
    const struct chat_delivery_policy policy = {
        .idempotency = e->setup.idempotency,
        .can_edit = e->setup.can_edit,
        .shown = !w->began || !w->append ? CHAT_SHOWN_UNKNOWN
                                         : (enum chat_delivery_shown)(w->append - 1)};
    struct chat_record r = {.slot = w->row_streamed ? CHAT_SLOT_STREAMED : CHAT_SLOT_ANSWER,
                            .beside = {.append = w->row_append},
                            .state = (enum chat_delivery_state)w->row_state,
                            .message = w->row_message ? "id" : NULL,
                            .live = w->row_live ? "id" : NULL,
                            .omit = w->row_omit,
                            .generation = w->row_generation,
                            .tried = {.doubts = w->row_doubts, .marked = w->row_marked}};
    const struct chat_result result = {.result = {.kind = kind, .reason = ""},
                                       .answered = answered};
    const bool creates =
        (r.state == CHAT_POSTING || r.state == CHAT_ENDING) && kind == TC_RESULT_IN_DOUBT;
    const struct chat_delivery_decision d = chat_delivery_next(&r, &result, &policy);
    n.doubts = (uint8_t)(n.doubts + creates);
    n.hard = (uint8_t)(n.hard + (creates && !answered));
    if (d.step == CHAT_STEP_DONE) {
        arrived(e, &n, w->row_state == CHAT_EDITING);
    } else if (d.step == CHAT_STEP_WHOLE) {
        model_send_whole(&n, &r, kind, e->setup.no_mark);
    } else if (d.step == CHAT_STEP_DEAD) {
        n.row = 0;
        n.dead = 1;
    } else {
        n.row_state = (uint8_t)r.state;
        n.row_marked = r.tried.marked && !e->setup.no_mark;
        n.row_doubts = (uint8_t)r.tried.doubts;
        n.row_generation = (uint8_t)r.generation;
        n.row_omit = (uint8_t)r.omit;
        n.row_confirm |= r.beside.edits;
        n.row_message = r.state == CHAT_EDITING ? n.row_live : 0;
    }
    model_add_world(e, &n);
}

void model_take_lost(struct explored *e, struct world *w)
{
    model_take(e, w, TC_RESULT_IN_DOUBT, false);
}

void model_take_unclear(struct explored *e, struct world *w)
{
    model_take(e, w, TC_RESULT_IN_DOUBT, true);
}

/* ---- a kill ---- */

/* The next process: the turn has ended by its loss, or the outcome is still to be delivered. */
void model_kill_host(struct explored *e, struct world *w)
{
    w->kills--;
    w->began = 0;
    w->repeat = 0;
    w->flight = w->append = 0;
    w->append_doubt |= w->row_append;
    w->doubts = (uint8_t)(w->doubts + w->row_append);
    w->stream = w->ended ? CHAT_NATIVE_CLOSED : CHAT_NATIVE_OFF;
    w->id = w->memory == CREATING ? 0 : w->memory;
    if (!w->ended) {
        w->doubt = 1;
        w->live = CHAT_LIVE_HIDDEN;
        model_end_turn(e, w);
    }
}

void model_add_killed(struct explored *e, const struct world *w)
{
    struct world n = *w;
    if (!w->kills)
        return;
    model_kill_host(e, &n);
    model_add_world(e, &n);
}

/* ---- what can happen next ---- */

static void created(struct explored *e, struct world *w, uint8_t id)
{
    w->id = w->memory = id;
    move_live(w, CHAT_LIVE_ON_CREATED);
    model_add_world(e, w);
}

static void create_lost(struct explored *e, struct world *w)
{
    if (e->setup.idempotency == TC_IDEMPOTENCY_KEY)
        w->repeat = 1;
    else
        move_live(w, e->setup.idempotency == TC_IDEMPOTENCY_LOOKUP ? CHAT_LIVE_ON_SEARCH
                                                                   : CHAT_LIVE_ON_LOSE);
    model_add_world(e, w);
}

static void step_create(struct explored *e, const struct world *w)
{
    struct world n = *w;
    const bool again = w->live == CHAT_LIVE_CREATING && w->repeat;
    if (!again && (w->live != CHAT_LIVE_HIDDEN || !e->setup.can_edit || w->gone > 1))
        return;
    n.creates = (uint8_t)(n.creates + !again);
    n.repeat = 0;
    n.memory = e->setup.no_creating ? 0 : CREATING;
    move_live(&n, again ? CHAT_LIVE_ON_REPEAT : CHAT_LIVE_ON_CREATE);
    const struct late_op op = {.key = n.creates, .what = {.kind = LIVE_MESSAGE, .marked = 0}};
    struct world done = n;
    const uint8_t id = create(e, &done, op.what, op.key);
    model_add_killed(e, &n);
    model_add_killed(e, &done);
    model_lose(e, &n, &op, create_lost);
    created(e, &done, id);
}

static void step_search(struct explored *e, const struct world *w)
{
    struct world n = *w;
    if (w->live != CHAT_LIVE_SEARCHING || w->late_count)
        return;
    const uint8_t id = find(w, LIVE_MESSAGE);
    if (id) {
        created(e, &n, id);
        return;
    }
    n.memory = 0;
    move_live(&n, CHAT_LIVE_ON_REFUSE);
    model_add_world(e, &n);
}

static void edit_lost(struct explored *e, struct world *w)
{
    w->doubt = 1;
    model_add_world(e, w);
}

static void step_shown(struct explored *e, const struct world *w)
{
    struct world n = *w;
    if (w->live != CHAT_LIVE_SHOWN)
        return;
    if (!w->shown[w->id - 1].kind) { /* the edit finds no message */
        move_live(&n, CHAT_LIVE_ON_EDIT);
        move_live(&n, CHAT_LIVE_ON_GONE);
        n.id = n.memory = 0;
        n.gone++;
        model_add_world(e, &n);
        return;
    }
    const struct late_op op = {
        .how = OP_EDIT, .at = w->id, .what = {.kind = LIVE_MESSAGE, .marked = 0}};
    model_lose(e, w, &op, edit_lost);
    if (w->faults) { /* a person deletes it */
        n.faults--;
        n.shown[n.id - 1] = (struct shown){0};
        model_add_world(e, &n);
    }
}

/* ---- the turn ---- */

static void step_running(struct explored *e, const struct world *w)
{
    struct world n = *w;
    if (w->ended)
        return;
    if (e->setup.streams) {
        model_step_streams(e, w);
        return;
    }
    step_create(e, w);
    step_search(e, w);
    step_shown(e, w);
    if (w->live != CHAT_LIVE_CREATING && w->live != CHAT_LIVE_SEARCHING) {
        model_end_turn(e, &n);
        model_add_world(e, &n);
    } else if (w->repeat || w->live == CHAT_LIVE_SEARCHING) { /* while nobody knows */
        n.repeat = 0;
        model_end_turn(e, &n);
        model_add_world(e, &n);
    }
}

static void step_posting(struct explored *e, const struct world *w)
{
    struct world n = *w;
    const struct late_op op = {.key = (uint8_t)(FINAL_KEY + w->row_generation),
                               .what = {.kind = FINAL_MESSAGE, .marked = w->row_marked}};
    create(e, &n, op.what, op.key);
    model_take(e, &n, TC_RESULT_DONE, false);
    model_lose(e, w, &op, model_take_lost);
    model_lose(e, w, &op, model_take_unclear);
    if (w->faults && !w->keys[op.key]) { /* a late copy of the same request is refused, too */
        struct world refused = *w;
        refused.faults--;
        refused.refused = 1;
        memset(refused.late, 0, sizeof refused.late);
        refused.late_count = 0;
        model_take(e, &refused, TC_RESULT_REFUSED, false);
    }
    for (int way = 0; w->kills && way < 2; way++) { /* in flight at the kill: in doubt first */
        struct world killed = way ? n : *w;
        model_kill_host(e, &killed);
        model_take(e, &killed, TC_RESULT_IN_DOUBT, false);
    }
}

static void step_editing(struct explored *e, const struct world *w)
{
    struct world n = *w;
    const struct late_op op = {.how = OP_EDIT,
                               .at = w->row_message,
                               .what = {.kind = FINAL_MESSAGE, .marked = w->row_marked}};
    if (!w->shown[w->row_message - 1].kind) {
        model_take(e, w, TC_RESULT_MESSAGE_GONE, false);
        return;
    }
    replace(&n, op.at, op.what);
    model_take(e, &n, TC_RESULT_DONE, false);
    model_lose(e, w, &op, model_take_lost);
}

static void step_row(struct explored *e, const struct world *w)
{
    if (!w->row)
        return;
    model_add_killed(e, w);
    switch ((enum chat_delivery_state)w->row_state) {
    case CHAT_POSTING:
        step_posting(e, w);
        break;
    case CHAT_EDITING:
        step_editing(e, w);
        break;
    case CHAT_FINDING:
        if (!w->late_count)
            model_take(e, w,
                       (w->row_streamed ? model_is_streamed(w) : find(w, FINAL_MESSAGE))
                           ? TC_RESULT_DONE
                           : TC_RESULT_NOT_FOUND,
                       false);
        break;
    case CHAT_PROBING:
        model_take(e, w, TC_RESULT_DONE, false);
        break;
    case CHAT_FILING:
    case CHAT_ENDING:
        model_step_ending(e, w);
        break;
    case CHAT_DELIVERED:
    case CHAT_DEAD:
        bail("the row is in state %d", w->row_state);
    }
}

static void step_confirm(struct explored *e, const struct world *w)
{
    struct world n = *w;
    if (!w->confirm || w->late_count)
        return;
    replace(&n, w->confirm, (struct shown){.kind = FINAL_MESSAGE, .marked = w->confirm_marked});
    n.confirm = 0;
    model_add_world(e, &n);
}

static void step_clean(struct explored *e, const struct world *w)
{
    struct world n = *w;
    if (w->row || !w->clean)
        return;
    if (w->clean == CLEAN_DELETE) {
        n.shown[w->clean_id - 1] = (struct shown){0};
        n.clean = CLEAN_NOTHING;
        n.id = n.memory = 0;
        model_add_world(e, &n);
    } else if (!w->late_count) {
        n.clean_id =
            e->setup.idempotency == TC_IDEMPOTENCY_KEY
                ? create(e, &n, (struct shown){.kind = LIVE_MESSAGE, .marked = 0}, w->creates)
                : find(w, LIVE_MESSAGE);
        n.clean = n.clean_id ? CLEAN_DELETE : CLEAN_NOTHING;
        n.memory = 0;
        model_add_world(e, &n);
    }
}

static void step_late(struct explored *e, const struct world *w)
{
    for (uint8_t i = 0; i < w->late_count; i++) {
        struct world n = *w;
        model_arrive(e, &n, &w->late[i]);
        memmove(n.late + i, n.late + i + 1, (size_t)(--n.late_count - i) * sizeof *n.late);
        memset(n.late + n.late_count, 0, sizeof *n.late);
        model_add_world(e, &n);
    }
}

/* ---- at rest ---- */

static enum broken find_broken(const struct explored *e, const struct world *w)
{
    unsigned finals = 0, unmarked = 0, lives = 0, halves = 0;
    /* the end of a stream has no key that makes it exact */
    const bool exact = e->setup.idempotency == TC_IDEMPOTENCY_LOOKUP ||
                       (e->setup.idempotency == TC_IDEMPOTENCY_KEY && !e->setup.streams);
    for (uint8_t i = 0; i < w->count; i++) {
        finals += w->shown[i].kind == FINAL_MESSAGE;
        unmarked += w->shown[i].kind == FINAL_MESSAGE && !w->shown[i].marked;
        lives += w->shown[i].kind == LIVE_MESSAGE;
        lives += w->shown[i].open && w->shown[i].known;
        halves |= w->shown[i].halves;
    }
    finals += halves == BOTH_HALVES;
    unmarked += halves == BOTH_HALVES;
    if (!finals && !w->dead)
        return NOWHERE;
    if (w->dead && !w->refused && w->hard <= CHAT_DOUBTS_MAX)
        return GIVEN_UP;
    if (unmarked > 1)
        return UNMARKED;
    if (exact && finals > 1 && !w->append_doubt)
        return TWICE;
    if (finals > 1u + w->doubts)
        return TOO_MANY;
    if (lives && e->setup.streams)
        return LEFT;
    if (lives && !w->dead && (exact || w->memory != CREATING) && w->live != CHAT_LIVE_UNKNOWN)
        return LEFT;
    return WHOLE;
}

static void explore(struct explored *e, uint8_t faults, uint8_t kills)
{
    struct world first;
    memset(&first, 0, sizeof first);
    first.faults = faults;
    first.kills = kills;
    first.began = 1;
    model_add_world(e, &first);
    while (e->done < e->count) {
        const struct world w = e->worlds[e->done++];
        const size_t before = e->count;
        step_late(e, &w);
        if (!w.ended)
            model_add_killed(e, &w);
        step_running(e, &w);
        step_row(e, &w);
        step_confirm(e, &w);
        step_clean(e, &w);
        model_step_flight(e, &w);
        model_step_close(e, &w);
        const bool at_rest = w.ended && !w.row && !w.clean && !w.confirm && !w.late_count &&
                             !w.flight && !w.close[0] && !w.close[1];
        if (!at_rest || e->count > before)
            continue;
        e->rests++;
        const enum broken broken = find_broken(e, &w);
        if (broken != WHOLE)
            e->broken |= 1u << broken;
    }
}

/* All services with these rules; counts are added. Returns a bit for each rule that was broken. */
static unsigned explore_all(const struct setup *rules, uint8_t faults, uint8_t kills,
                            size_t *states, size_t *rests)
{
    unsigned broken = 0;
    for (int i = 0; i < (rules->streams ? 3 : 12); i++) {
        struct explored e = {.setup = *rules};
        e.setup.idempotency = (enum tc_idempotency)(i % 3);
        e.setup.finalize_edit = i / 3 % 2;
        e.setup.can_edit = i / 6;
        explore(&e, faults, kills);
        *states += e.count;
        *rests += e.rests;
        broken |= e.broken;
        free(e.worlds);
        free(e.table);
    }
    return broken;
}

static void test_needed(const struct setup *rules, enum broken expected, const char *name)
{
    size_t states = 0, rests = 0;
    const unsigned broken = explore_all(rules, 2, 1, &states, &rests);
    ok(broken & 1u << expected, "%s (%zu states, broken: %#x)", name, states, broken);
}

int main(void)
{
    const char *const wish = getenv("TURNCAST_LONG");
    const bool longer = wish && strcmp(wish, "0") != 0;
    size_t states = 0, rests = 0;
    plan_lazy();
    const unsigned broken =
        explore_all(&(struct setup){0}, longer ? 4 : 2, longer ? 2 : 1, &states, &rests);
    diag("%zu states, %zu of them final", states, rests);
    ok(!broken && rests > 1000, "no rule is broken (%#x)", broken);
    size_t streamed = 0, streamed_rests = 0;
    const unsigned broken_streams = explore_all(&(struct setup){.streams = true}, longer ? 4 : 3,
                                                longer ? 2 : 1, &streamed, &streamed_rests);
    diag("%zu states with streams, %zu of them final", streamed, streamed_rests);
    ok(!broken_streams && streamed_rests > 1000, "no rule is broken with streams (%#x)",
       broken_streams);
    test_needed(&(struct setup){.no_confirm = true}, NOWHERE,
                "without a confirming edit the answer can disappear");
    test_needed(&(struct setup){.no_creating = true}, LEFT,
                "without the memory of a create a progress message can be left");
    test_needed(&(struct setup){.no_mark = true}, UNMARKED,
                "without marks there can be two identical copies");
    test_needed(&(struct setup){.streams = true, .no_incomplete = true}, NOWHERE,
                "if an append in doubt counts as shown, half of the answer can be missing");
    test_needed(
        &(struct setup){.streams = true, .no_beside = true}, NOWHERE,
        "if an append in flight at the end counts as shown, half of the answer can be missing");
    test_needed(&(struct setup){.streams = true, .no_gone = true}, NOWHERE,
                "if a deleted stream counts as shown, the answer can be missing");
    test_needed(&(struct setup){.streams = true, .no_memory = true}, LEFT,
                "without the memory of its id a stream can be left open");
    test_needed(&(struct setup){.streams = true, .no_mark = true}, UNMARKED,
                "without marks a stream and a message can be identical");
    return 0;
}
