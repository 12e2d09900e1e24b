/* SPDX-License-Identifier: MIT
 * Connection to the Redis server: opened on demand, closed after each error. */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "redis_connector.h"

#define NOT_ABOVE "equal or smaller than the target stream top item"

static const struct timeval patience = {.tv_sec = 2};

void redis_server_close(struct tc_instance *inst)
{
    struct redis_state *const s = inst->state;
    if (s->link)
        redisFree(s->link);
    s->link = NULL;
}

/* Host and port of "HOST:PORT" or "[IPV6]:PORT". */
static redisContext *redis_server_open(struct tc_turn *turn, const char *address)
{
    if (*address == '/')
        return redisConnectUnixWithTimeout(address, patience);
    char *const host = tc_keep(turn, address), *const colon = host ? strrchr(host, ':') : NULL;
    if (!colon)
        return NULL;
    *colon = '\0';
    const bool v6 = *host == '[' && colon > host && colon[-1] == ']';
    if (v6)
        colon[-1] = '\0';
    return redisConnectWithTimeout(host + v6, atoi(colon + 1), patience);
}

static const char *redis_server_error(struct tc_turn *turn, const redisReply *reply)
{
    const struct redis_state *const s = turn->inst->state;
    const redisContext *const link = s->link;
    if (reply)
        return tc_sprint(turn, "%.200s", reply->str ? reply->str : "unexpected reply");
    return link ? tc_sprint(turn, "%.100s", link->errstr) : "out of memory";
}

/* A command whose reply is not needed. -1 with *why. */
static int redis_server_expect(struct tc_turn *turn, const char **why, const char *format, ...)
{
    const struct redis_state *const s = turn->inst->state;
    va_list args;
    va_start(args, format);
    redisReply *const reply = redisvCommand(s->link, format, args);
    va_end(args);
    const bool good = reply && reply->type != REDIS_REPLY_ERROR;
    if (!good)
        *why = redis_server_error(turn, reply);
    freeReplyObject(reply);
    return good ? 0 : -1;
}

static int redis_server_introduce(struct tc_turn *turn, const char **why)
{
    const struct redis_conf *const conf = turn->inst->conf;
    if (conf->password && redis_server_expect(turn, why, "AUTH %s", conf->password) < 0)
        return -1;
    return conf->database == 0 ||
                   redis_server_expect(turn, why, "SELECT %lld", (long long)conf->database) == 0
               ? 0
               : -1;
}

/* The sandbox of an instance refuses connections that the configuration does not permit. */
static const char *redis_server_explain(struct tc_turn *turn, int error)
{
    const struct redis_conf *const conf = turn->inst->conf;
    const char *const why = redis_server_error(turn, NULL);
    if (error != EACCES && error != EPERM)
        return why;
    if (*conf->address == '/')
        return tc_sprint(turn, "%s; a Unix socket requires isolation = \"thread\"", why);
    const char *const colon = strrchr(conf->address, ':');
    return tc_sprint(turn, "%s; add ports = [%s] to the instance", why, colon ? colon + 1 : "6379");
}

static int redis_server_connect(struct tc_turn *turn, const char **why)
{
    const struct redis_conf *const conf = turn->inst->conf;
    struct redis_state *const s = turn->inst->state;
    if (s->link)
        return 0;
    redisContext *const link = redis_server_open(turn, conf->address);
    s->link = link;
    if (link && !link->err && redisSetTimeout(link, patience) == REDIS_OK &&
        redis_server_introduce(turn, why) == 0)
        return 0;
    if (!link || link->err)
        *why = redis_server_explain(turn, errno);
    redis_server_close(turn->inst);
    return -1;
}

static redisReply *redis_server_xadd(const struct redis_state *s, const struct redis_conf *conf,
                                     const struct stream_entry *e)
{
    return redisCommand(s->link,
                        "XADD %s MAXLEN ~ %lld %s event_type %s content %s ts %s session_id %s "
                        "correlation_id %s",
                        e->key, (long long)conf->max_entries, e->id, e->type, e->content, e->ts,
                        e->session_id, e->correlation_id);
}

/* Temporary: a server that is loading its data, or a replica, refuses writes. */
static bool redis_server_is_away(const redisReply *reply)
{
    static const char *const states[] = {"LOADING", "READONLY", "MASTERDOWN", "BUSY",
                                         "OOM",     "NOAUTH",   "MISCONF",    "CLUSTERDOWN"};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strncmp(reply->str, states[i], strlen(states[i])) == 0)
            return true;
    return false;
}

static enum tc_outcome redis_server_classify_reply(struct tc_turn *turn, const redisReply *reply,
                                                   bool repeat, const char **why)
{
    if (reply && reply->type != REDIS_REPLY_ERROR)
        return TC_OK;
    if (reply && repeat && strstr(reply->str, NOT_ABOVE))
        return TC_OK;
    *why = redis_server_error(turn, reply);
    if (!reply)
        return TC_AMBIGUOUS;
    return redis_server_is_away(reply) ? TC_NOT_SENT : TC_REJECTED;
}

enum tc_outcome redis_server_add(struct tc_turn *turn, const struct stream_entry *entry,
                                 bool repeat, const char **why)
{
    const struct redis_conf *const conf = turn->inst->conf;
    struct redis_state *const s = turn->inst->state;
    if (redis_server_connect(turn, why) < 0)
        return TC_NOT_SENT;
    redisReply *const reply = redis_server_xadd(s, conf, entry);
    enum tc_outcome outcome = redis_server_classify_reply(turn, reply, repeat, why);
    freeReplyObject(reply);
    if (outcome == TC_OK &&
        redis_server_expect(turn, why, "EXPIRE %s %lld", entry->key, (long long)conf->expire_s) < 0)
        outcome = TC_AMBIGUOUS;
    if (outcome == TC_AMBIGUOUS || outcome == TC_NOT_SENT)
        redis_server_close(turn->inst);
    return outcome;
}
