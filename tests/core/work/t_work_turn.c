/* SPDX-License-Identifier: MIT
 * A host that begins a shared turn, against Debian's nats-server: what it does if another host has
 * adopted or delivered the turn before the claim is written, if the servers have lost their data,
 * and if an earlier life of this host has begun the turn. */
#include "core/work/work_turn.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "io/nats_server.h"
#include "tap/tap.h"

#define DEADLINE_MS 60000

static struct bus_link net = {.names = {"tc", "h1"}, .boot = "b1"};
static struct work work = {.link = &net};
static struct work_share share = {.work = &work, .link = &net};

static void on_changed(void *ctx, bool connected, const char *text)
{
    (void)ctx;
    (void)text;
    net.is_active = connected;
}

static bool wait_for(const bool *flag)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (!*flag && clock_mono_ms() < end)
        loop_run_once(net.loop, 20);
    return *flag;
}

/* ---- what the servers have ---- */

static void on_reply(void *ctx, enum nats_client_result result, const struct nats_client_message *m)
{
    bool *const is_done = ctx;
    if (result != NATS_CLIENT_REPLIED || memmem(m->data.p, m->data.len, "\"error\"", 7))
        bail("the servers have refused a request");
    *is_done = true;
}

static bool request(const char *subject, struct str body)
{
    bool is_done = false;
    const struct nats_client_publication p = {.subject = subject, .data = body};
    nats_client_request(net.client, &p, BUS_STORE_MS, on_reply, &is_done);
    return wait_for(&is_done);
}

static bool create(enum bus_stream stream)
{
    CLEANUP_BUF struct buf config = {0}, subject = {0};
    buf_add_str(&subject, "$JS.API.STREAM.CREATE.");
    bus_stream_name(&subject, &net.names, stream);
    bus_stream_config(&config, &net.names, stream, 1);
    return request(subject.p, (struct str){config.p, config.len});
}

static void write_order(struct buf *out, const char *id, const char *gateway)
{
    const struct bus_origin from = bus_link_next_origin(&net);
    work_order_write(out, &from,
                     &(struct work_order){.turn = id,
                                          .agent = "main",
                                          .conversation = "tg:5",
                                          .source = "tg",
                                          .gateway = gateway,
                                          .prompt = STR("hello")});
}

static bool store(const char *kind, const char *id, const struct buf *body)
{
    CLEANUP_BUF struct buf subject = {0};
    work_outcome_subject(&subject, &net.names, kind, "tg", id);
    return request(subject.p, (struct str){body->p, body->len});
}

/* Another host adopts the turn: it names itself in the order. */
static bool adopt(const char *id)
{
    CLEANUP_BUF struct buf body = {0};
    write_order(&body, id, "h2");
    return store("new", id, &body);
}

static bool remove_order(const char *id)
{
    CLEANUP_BUF struct buf body = {0}, filter = {0};
    work_outcome_subject(&filter, &net.names, "new", "tg", id);
    buf_printf(&body, "{\"filter\":\"%s\"}", filter.p);
    return request("$JS.API.STREAM.PURGE.TC_TURN", (struct str){body.p, body.len});
}

/* Another host marks the turn as delivered. */
static bool mark_delivered(const char *id)
{
    CLEANUP_BUF struct buf body = {0};
    struct bus_origin from = bus_link_next_origin(&net);
    snprintf(from.host, sizeof from.host, "h2");
    work_outcome_write(&body, &from, STR(""));
    return store("told", id, &body);
}

static struct claim {
    enum bus_kv_result result;
    struct bus_origin from;
} claim;

static void on_claim(void *ctx, enum nats_client_result result, const struct nats_client_message *m)
{
    struct bus_kv_entry entry;
    (void)ctx;
    bus_kv_read_entry(&net, BUS_RUNS, result, m, &entry);
    claim.result = entry.result;
    if (entry.result == BUS_KV_DONE && bus_origin_read(entry.value, &claim.from) < 0)
        bail("the claim is invalid");
}

static enum bus_kv_result find_claim(const char *id)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    claim = (struct claim){.result = BUS_KV_UNKNOWN};
    bus_kv_get(&net, BUS_RUNS, id, on_claim, NULL);
    while (claim.result == BUS_KV_UNKNOWN && clock_mono_ms() < end)
        loop_run_once(net.loop, 20);
    return claim.result;
}

/* The agent of the turn was begun on that host, when it had that boot id. */
static bool claim_as(const char *id, const char *host, const char *boot)
{
    CLEANUP_BUF struct buf subject = {0}, body = {0};
    struct bus_origin from = {.n = 7};
    snprintf(from.host, sizeof from.host, "%s", host);
    snprintf(from.boot, sizeof from.boot, "%s", boot);
    buf_printf(&subject, "$KV.tc_run.%s", id);
    buf_add_char(&body, '{');
    bus_origin_write(&body, &from);
    buf_add_char(&body, '}');
    return request(subject.p, (struct str){body.p, body.len});
}

/* The gateway of a stored order. */
static struct order_gateway {
    bool is_read;
    char name[BUS_HOST_MAX + 1];
} gateway;

static void on_order(void *ctx, enum nats_client_result result, const struct nats_client_message *m)
{
    struct arena arena = {0};
    struct work_order order;
    (void)ctx;
    if (result != NATS_CLIENT_REPLIED || work_order_read(m->data, &arena, &order) < 0)
        bail("the servers have no order");
    snprintf(gateway.name, sizeof gateway.name, "%s", order.gateway);
    gateway.is_read = true;
    arena_fini(&arena);
}

static const char *find_gateway(const char *id)
{
    CLEANUP_BUF struct buf subject = {0};
    work_outcome_subject(&subject, &net.names, "new", "tg", id);
    gateway = (struct order_gateway){0};
    bus_link_read_last(&net, BUS_TURNS, subject.p, on_order, NULL);
    return wait_for(&gateway.is_read) ? gateway.name : "";
}

/* ---- the turn ---- */

static struct begun {
    bool is_done;
    enum work_share_answer answer;
} begun;

static void on_begun(void *ctx, enum work_share_answer answer, uint64_t after)
{
    (void)ctx;
    (void)after;
    begun = (struct begun){true, answer};
}

static bool wait_for_state(const struct work_turn *t, enum work_turn_state state)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while ((t->state != state || t->awaits_reply) && clock_mono_ms() < end)
        loop_run_once(net.loop, 20);
    return t->state == state;
}

/* The order of the turn is stored, and names this host. */
static struct work_turn *hold(const char *id)
{
    struct work_turn *const t = work_turn_new(&share, id, "tg");
    write_order(&t->order, id, "h1");
    work_turn_go_on(t);
    ok(wait_for_state(t, TURN_HELD), "the order of turn %s is stored", id);
    return t;
}

/* Its agent is to begin. */
static enum work_share_answer begin(struct work_turn *t)
{
    begun = (struct begun){0};
    work_share_begin(&work, t->id, t->source, true, on_begun, NULL);
    if (!wait_for(&begun.is_done))
        bail("no answer whether the turn may begin");
    return begun.answer;
}

static void test_undisturbed(void)
{
    struct work_turn *const t = hold("t1");
    is_int(begin(t), WORK_SHARE_BEGIN, "a turn of this host begins");
    is_int(find_claim("t1"), BUS_KV_DONE, "the claim of the turn is stored");
    work_turn_free(t);
}

static void test_adopted(void)
{
    struct work_turn *const t = hold("t2");
    ok(adopt("t2"), "another host adopts the turn");
    is_int(begin(t), WORK_SHARE_ELSEWHERE, "the turn does not begin here");
    is_int(t->state, TURN_ELSEWHERE, "the turn belongs to the other host");
    is_int(find_claim("t2"), BUS_KV_NONE, "the claim of this host is deleted");
    work_turn_free(t);
}

static void test_delivered(void)
{
    struct work_turn *const t = hold("t3");
    ok(adopt("t3") && mark_delivered("t3") && remove_order("t3"),
       "another host adopts and delivers the turn");
    is_int(begin(t), WORK_SHARE_ELSEWHERE, "the turn does not begin here");
    is_int(t->state, TURN_ELSEWHERE, "the turn belongs to the other host");
    is_int(find_claim("t3"), BUS_KV_NONE, "the claim of this host is deleted");
    work_turn_free(t);
}

static void test_lost(void)
{
    struct work_turn *const t = hold("t4");
    ok(remove_order("t4"), "the servers lose the order of the turn");
    is_int(begin(t), WORK_SHARE_BEGIN, "the turn begins, because no other host has it");
    is_int(find_claim("t4"), BUS_KV_DONE, "the claim of the turn is stored");
    work_turn_free(t);
}

static void test_claimed_elsewhere(void)
{
    struct work_turn *const t = hold("t5");
    ok(claim_as("t5", "h2", "b0"), "another host has begun the turn");
    is_int(begin(t), WORK_SHARE_ELSEWHERE, "the turn does not begin here");
    work_turn_free(t);
}

/* ---- the journal of this host was restored from a backup ---- */

static void check_former_claim(const char *id)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (find_claim(id) != BUS_KV_DONE && clock_mono_ms() < end) /* it may be under way */
        continue;
    ok(claim.result == BUS_KV_DONE && strcmp(claim.from.boot, "b0") == 0 && claim.from.n == 7,
       "the claim of the earlier life stays");
}

static void test_begun_before(void)
{
    struct work_turn *const t = hold("t6");
    ok(claim_as("t6", "h1", "b0"), "an earlier life of this host has begun the turn");
    is_int(begin(t), WORK_SHARE_BEGUN, "the turn does not begin again");
    is_int(t->state, TURN_BEGUN, "the turn is this host's");
    check_former_claim("t6");
    work_turn_claim_again(t);
    check_former_claim("t6");
    work_turn_free(t);
}

/* Lost with all other data of the servers. */
static void test_begun_and_lost(void)
{
    struct work_turn *const t = hold("t7");
    ok(claim_as("t7", "h1", "b0"), "an earlier life of this host has begun the turn");
    is_int(begin(t), WORK_SHARE_BEGUN, "the turn does not begin again");
    ok(request("$JS.API.STREAM.PURGE.KV_tc_run", STR("{}")), "the servers lose the claim");
    work_turn_claim_again(t);
    check_former_claim("t7");
    work_turn_free(t);
}

static void test_begun_and_adopted(void)
{
    struct work_turn *const t = hold("t8");
    ok(claim_as("t8", "h1", "b0") && adopt("t8"),
       "an earlier life of this host has begun the turn, which another host then adopts");
    is_int(begin(t), WORK_SHARE_ELSEWHERE, "the turn belongs to the other host");
    check_former_claim("t8");
    work_turn_free(t);
}

/* Two messages form one prompt. The one that was begun before ends by itself. */
static void test_begun_and_joined(const char *first, const char *second, bool is_first_begun)
{
    struct work_turn *const head = hold(first), *const joined = hold(second);
    ok(claim_as(is_first_begun ? first : second, "h1", "b0"),
       "an earlier life of this host has begun one of two joined messages");
    work_share_join(&work, first, "tg", &second, 1);
    is_int(begin(head), is_first_begun ? WORK_SHARE_BEGUN : WORK_SHARE_ELSEWHERE,
           "the two do not begin together");
    ok(wait_for_state(joined, TURN_ELSEWHERE), "the second is handed back");
    is_str(find_gateway(second), WORK_SHARE_NOBODY, "the leader may adopt it");
    ok(wait_for_state(head, is_first_begun ? TURN_BEGUN : TURN_ELSEWHERE), "the first is %s",
       is_first_begun ? "kept" : "handed back");
    is_str(find_gateway(first), is_first_begun ? "h1" : WORK_SHARE_NOBODY, "its gateway");
    check_former_claim(is_first_begun ? first : second);
    is_int(find_claim(is_first_begun ? second : first), BUS_KV_NONE,
           "the agent of the other one may begin");
    work_turn_free(joined);
    work_turn_free(head);
}

/* The turn is found in the journal after a restart. left: what the journal has of it. */
static bool is_in_doubt(const char *id, char left)
{
    CLEANUP_BUF struct buf order = {0};
    write_order(&order, id, "h1");
    if (!store("new", id, &order) || !store("tell", id, &order))
        bail("the servers have refused a message");
    struct work_turn *const t = work_turn_new(&share, id, "tg");
    t->left = left;
    work_turn_go_on(t);
    ok(wait_for_state(t, TURN_HELD), "turn %s is this host's", id);
    const bool is_in_doubt = t->in_doubt;
    work_turn_free(t);
    return is_in_doubt;
}

static void test_told_before(void)
{
    ok(!is_in_doubt("t13", WORK_LEFT_OUTCOME),
       "the journal knows whether its outcome was delivered");
    ok(is_in_doubt("t14", WORK_LEFT_RUNNING),
       "a journal without an outcome does not know that it was perhaps delivered");
}

static void on_look(void *ctx)
{
    (void)ctx;
}

static void each_led(void *ctx, void (*each)(void *each_ctx, const char *instance), void *each_ctx)
{
    (void)ctx;
    each(each_ctx, "tg");
}

int main(void)
{
    struct nats_server server = {0};
    plan_lazy();
    net.loop = loop_new();
    net.client = nats_server_connect(&server, net.loop, on_changed);
    if (!net.client)
        return 0;
    LIST_INIT(&share.turns);
    share.timer = loop_timer_new(net.loop, on_look, NULL);
    share.spec.each_led = each_led;
    work.share = &share;
    ok(wait_for(&net.is_active) && create(BUS_TURNS) && create(BUS_RUNS),
       "connected, with streams");
    test_undisturbed();
    test_adopted();
    test_delivered();
    test_lost();
    test_claimed_elsewhere();
    test_begun_before();
    test_begun_and_lost();
    test_begun_and_adopted();
    test_begun_and_joined("t9", "t10", true);
    test_begun_and_joined("t11", "t12", false);
    test_told_before();
    loop_timer_free(share.timer);
    nats_client_free(net.client);
    nats_server_kill(&server);
    loop_free(net.loop);
    return 0;
}
