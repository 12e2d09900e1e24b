/* SPDX-License-Identifier: MIT
 * Usage lines of the Reasonix writer: tokens as Reasonix counts them, and costs that add up to the
 * cost of the turn. */
#include "dialect/reader/value.h"
#include "dialect/reasonix/reasonix_write_internal.h"

#define COST_MIN 1e-9 /* of any currency; a smaller difference is a rounding error */

static int64_t at_least_0(int64_t n)
{
    return n < 0 ? 0 : n;
}

/* Here the prompt is the sum of its cached and uncached parts; other sources count the cached part
 * separately. */
static void add_tokens(struct buf *b, const struct tc_usage *u)
{
    const int64_t input = at_least_0(u->input_tokens), output = at_least_0(u->output_tokens);
    const int64_t hit = at_least_0(u->cache_read_tokens);
    const int64_t beside = u->cache_counted == 0 ? hit + at_least_0(u->cache_write_tokens) : 0;
    const int64_t prompt = input + beside, miss = prompt > hit ? prompt - hit : 0;
    json_style_member_int(b, GO, "promptTokens", prompt);
    json_style_member_int(b, GO, "completionTokens", output);
    json_style_member_int(b, GO, "totalTokens",
                          u->total_tokens < 0 ? prompt + output : u->total_tokens);
    json_style_member_int(b, GO, "cacheHitTokens", hit);
    json_style_member_int(b, GO, "cacheMissTokens",
                          u->cache_miss_tokens < 0 ? miss : u->cache_miss_tokens);
    json_member_count(b, GO, "reasoningTokens", u->reasoning_tokens);
}

static void reasonix_write_usage_add_cost(const struct reasonix_wire *wire, struct buf *b,
                                          const struct tc_usage *u)
{
    const struct str display = value_get_last(wire->own ? wire->x : (struct str){0}, "costUsd");
    if (u->cost < 0 && u->cost_usd >= 0) {
        json_style_member_real(b, GO, "cost", u->cost_usd);
        json_style_member_str(b, GO, "currency", "$");
        json_style_member_real(b, GO, "costUsd", u->cost_usd);
        return;
    }
    if (u->cost >= 0 && (u->currency || !display.p))
        json_style_member_real(b, GO, "cost", u->cost);
    json_member_str(b, GO, "currency", u->currency);
    json_member_value(b, GO, "costUsd", display);
}

static void write_usage_line(const struct reasonix_wire *wire, const struct tc_usage *u, bool own)
{
    static const char *const written[] = {"costUsd", "estimated", NULL};
    const struct str session = {u->session, u->session ? strlen(u->session) : 0};
    struct buf *const b = reasonix_begin(wire, "usage");
    json_style_append_key(b, GO, "usage");
    buf_add_char(b, '{');
    add_tokens(b, u);
    json_style_member_int(b, GO, "sessionCacheHitTokens",
                          value_int(value_get_last(session, "cache_hit_tokens"), 0));
    json_style_member_int(b, GO, "sessionCacheMissTokens",
                          value_int(value_get_last(session, "cache_miss_tokens"), 0));
    reasonix_write_usage_add_cost(wire, b, u);
    if (own) {
        json_member_value(b, GO, "estimated", value_get_last(wire->x, "estimated"));
        json_member_str(b, GO, "source", u->source);
        json_member_rest(b, GO, wire->x, written);
    }
    buf_add_char(b, '}');
    reasonix_end_line(wire);
}

/* The cost of the turn beyond its calls, for which many sources report tokens only: a line without
 * tokens. */
static void reasonix_write_usage_write_rest_of_cost(const struct reasonix_wire *wire)
{
    const struct tc_usage *const turn = &wire->ev->u.usage;
    struct event rest;
    event_init(&rest, TC_USAGE);
    struct tc_usage *const u = &rest.u.usage;
    if (turn->cost >= 0) {
        u->cost = turn->cost - wire->w->cost;
        u->currency = turn->currency;
    } else {
        u->cost_usd = turn->cost_usd - wire->w->cost_usd;
    }
    if (u->cost >= COST_MIN || u->cost_usd >= COST_MIN)
        write_usage_line(wire, u, false);
}

static void count_call(struct reasonix_writing *w, const struct tc_usage *u)
{
    w->counted = true;
    w->cost += u->cost < 0 ? 0 : u->cost;
    w->cost_usd += u->cost_usd < 0 ? 0 : u->cost_usd;
}

void reasonix_write_usage(const struct reasonix_wire *wire)
{
    const struct tc_usage *const u = &wire->ev->u.usage;
    const bool call = strcmp(u->scope, "call") == 0, folded = wire->w->folded;
    wire->w->folded = false;
    if (!call && wire->w->counted) {
        reasonix_write_usage_write_rest_of_cost(wire);
        return;
    }
    if (call)
        count_call(wire->w, u);
    if (!folded)
        write_usage_line(wire, u, wire->own);
}
