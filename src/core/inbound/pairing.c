/* SPDX-License-Identifier: MIT
 * Owns codes, paired people, and the number of wrong attempts. */
#include "core/inbound/pairing.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/bytes/utf8.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/bus/bus_stream.h"
#include "event/json/json_writer.h"

#define NAME_SIZE 65
#define PERSON_KEY "paired:"
#define CODE_KEY "pairing-code:"
#define SHARED_KEY "pair."

/* Excludes letters and digits that are easily confused. */
static const char letters[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
_Static_assert(sizeof letters == 33, "five random bits are a letter");

struct pairing_entry {
    struct pairing_entry *next;
    char *instance, *user;
    char name[NAME_SIZE];
    int64_t time_ms;                 /* of a person: since; of a code: until */
    char code[PAIRING_CODE_LEN + 1]; /* code; "": a paired person */
};

/* Number of wrong codes for an instance. */
struct pairing_tries {
    struct pairing_tries *next;
    char *instance;
    int64_t since_ms;
    unsigned n;
};

struct pairing {
    struct journal_async *journal;
    struct shared_user *shared; /* NULL: no other hosts */
    struct pairing_entry *people, *codes;
    size_t n_people;
    struct pairing_tries *tries;
};

static int64_t pairing_now_ms(void)
{
    return (int64_t)(clock_wall_s() * 1000);
}

/* ---- lists ---- */

static struct pairing_entry **pairing_find(struct pairing_entry **list, const char *instance,
                                           const char *user)
{
    while (*list && (strcmp((*list)->instance, instance) != 0 || strcmp((*list)->user, user) != 0))
        list = &(*list)->next;
    return list;
}

static void pairing_free_entry(struct pairing_entry *e)
{
    free(e->instance);
    free(e->user);
    free(e);
}

static void pairing_unlink(struct pairing_entry **at)
{
    struct pairing_entry *const e = *at;
    *at = e->next;
    pairing_free_entry(e);
}

/* A person chooses the name, so it is kept on one line. */
static struct pairing_entry *pairing_entry_new(const char *instance, const char *user,
                                               const char *name)
{
    struct pairing_entry *const e = xcalloc(1, sizeof *e);
    e->instance = xstrdup(instance);
    e->user = xstrdup(user);
    utf8_copy_truncated(e->name, sizeof e->name, name ? name : "");
    for (char *p = e->name; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = '_';
    return e;
}

static void pairing_write(const struct pairing *p, const struct pairing_entry *e, bool keep,
                          journal_done_fn *done, void *ctx)
{
    CLEANUP_BUF struct buf text = {0};
    CLEANUP_FREE char *key =
        xasprintf("%s%s:%s", *e->code ? CODE_KEY : PERSON_KEY, e->instance, e->user);
    buf_printf(&text, "%" PRId64 " %s%s%s", e->time_ms, e->code, *e->code ? " " : "", e->name);
    journal_async_kv_put(p->journal, key, keep ? text.p : NULL, done, ctx);
}

/* Parses an entry: key "INSTANCE:USER", and a text that begins with a time; NULL: invalid. */
static struct pairing_entry *pairing_read_entry(const char *key, const char *text,
                                                const char **rest)
{
    const size_t instance = strcspn(key, ":");
    char *end;
    const int64_t time_ms = strtoll(text, &end, 10);
    if (!key[instance] || end == text || *end != ' ')
        return NULL;
    CLEANUP_FREE char *name = xstrndup(key, instance);
    struct pairing_entry *const e = pairing_entry_new(name, key + instance + 1, NULL);
    e->time_ms = time_ms;
    *rest = end + 1;
    return e;
}

static void pairing_read_person(void *ctx, const char *key, const char *text)
{
    struct pairing *const p = ctx;
    const char *name;
    struct pairing_entry *const e = pairing_read_entry(key + strlen(PERSON_KEY), text, &name);
    if (!e)
        return;
    utf8_copy_truncated(e->name, sizeof e->name, name);
    e->next = p->people;
    p->people = e;
    p->n_people++;
}

static void pairing_read_code(void *ctx, const char *key, const char *text)
{
    struct pairing *const p = ctx;
    const char *code;
    struct pairing_entry *const e = pairing_read_entry(key + strlen(CODE_KEY), text, &code);
    if (!e)
        return;
    const size_t len = strcspn(code, " ");
    if (len != PAIRING_CODE_LEN) {
        pairing_free_entry(e);
        return;
    }
    memcpy(e->code, code, len);
    utf8_copy_truncated(e->name, sizeof e->name, code[len] ? code + len + 1 : "");
    e->next = p->codes;
    p->codes = e;
}

struct pairing *pairing_new(struct journal_async *journal)
{
    struct pairing *const p = xcalloc(1, sizeof *p);
    p->journal = journal;
    /* A read error is logged by the journal; these people are not paired then. */
    (void)journal_async_kv_each(journal, PERSON_KEY, pairing_read_person, p);
    (void)journal_async_kv_each(journal, CODE_KEY, pairing_read_code, p);
    return p;
}

void pairing_free(struct pairing *p)
{
    if (!p)
        return;
    while (p->people)
        pairing_unlink(&p->people);
    while (p->codes)
        pairing_unlink(&p->codes);
    for (struct pairing_tries *t = p->tries, *next; t; t = next) {
        next = t->next;
        free(t->instance);
        free(t);
    }
    free(p);
}

bool pairing_has(const struct pairing *p, const char *instance, const char *user)
{
    const struct pairing_entry *e = p && user ? p->people : NULL;
    while (e && (strcmp(e->instance, instance) != 0 || strcmp(e->user, user) != 0))
        e = e->next;
    return e;
}

/* ---- codes ---- */

static void pairing_drop_expired(struct pairing *p)
{
    const int64_t now = pairing_now_ms();
    for (struct pairing_entry **at = &p->codes; *at;) {
        /* a clock that was set back must not extend a code */
        if ((*at)->time_ms > now && (*at)->time_ms <= now + PAIRING_CODE_MS) {
            at = &(*at)->next;
            continue;
        }
        pairing_write(p, *at, false, NULL, NULL);
        pairing_unlink(at);
    }
}

static size_t count_codes_of(const struct pairing *p, const char *instance)
{
    size_t n = 0;
    for (const struct pairing_entry *e = p->codes; e; e = e->next)
        n += strcmp(e->instance, instance) == 0;
    return n;
}

size_t pairing_count_codes(struct pairing *p)
{
    size_t n = 0;
    pairing_drop_expired(p);
    for (const struct pairing_entry *e = p->codes; e; e = e->next)
        n++;
    return n;
}

static void make_code(char code[PAIRING_CODE_LEN + 1])
{
    unsigned char random[PAIRING_CODE_LEN];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        abort(); /* the kernel never refuses eight bytes once it is initialised */
    for (size_t i = 0; i < sizeof random; i++)
        code[i] = letters[random[i] % 32];
    code[PAIRING_CODE_LEN] = 0;
}

const char *pairing_offer(struct pairing *p, const char *instance, const char *user,
                          const char *name)
{
    pairing_drop_expired(p);
    if (*pairing_find(&p->codes, instance, user))
        return NULL;
    if (count_codes_of(p, instance) >= PAIRING_CODES_MAX) {
        log_write(LOG_WARN, "host",
                  "instance %s: no pairing code for user %s: the limit of %d is reached", instance,
                  user, PAIRING_CODES_MAX);
        return NULL;
    }
    struct pairing_entry *const e = pairing_entry_new(instance, user, name);
    make_code(e->code);
    e->time_ms = pairing_now_ms() + PAIRING_CODE_MS;
    e->next = p->codes;
    p->codes = e;
    pairing_write(p, e, true, NULL, NULL);
    log_write(LOG_INFO, "host", "instance %s: sent a pairing code to user %s", instance, user);
    return e->code;
}

/* ---- other hosts ---- */

/* The shared value of a person. */
static void pairing_publish(const struct pairing *p, const struct pairing_entry *e, bool is_paired)
{
    CLEANUP_BUF struct buf key = {0}, value = {0};
    if (!p->shared)
        return;
    buf_add_str(&key, SHARED_KEY);
    bus_stream_add_token(&key, e->instance);
    buf_add_char(&key, '.');
    bus_stream_add_token(&key, e->user);
    buf_add_char(&value, '{');
    jsonw_member_str(&value, "instance", e->instance);
    jsonw_member_str(&value, "user", e->user);
    jsonw_member_str(&value, "name", e->name);
    jsonw_member_int(&value, "since_ms", e->time_ms);
    buf_add_char(&value, '}');
    shared_put(p->shared, key.p, is_paired ? value.p : NULL);
}

static struct pairing_entry **pairing_find_shared(struct pairing *p, const char *key)
{
    struct pairing_entry **at = &p->people;
    for (; *at; at = &(*at)->next) {
        CLEANUP_BUF struct buf own = {0};
        buf_add_str(&own, SHARED_KEY);
        bus_stream_add_token(&own, (*at)->instance);
        buf_add_char(&own, '.');
        bus_stream_add_token(&own, (*at)->user);
        if (strcmp(own.p, key) == 0)
            break;
    }
    return at;
}

static void pairing_add_shared(struct pairing *p, const char *host, const char *value)
{
    CLEANUP_FREE char *instance = shared_read_text(value, "/instance");
    CLEANUP_FREE char *user = shared_read_text(value, "/user");
    CLEANUP_FREE char *name = shared_read_text(value, "/name");
    if (!instance || !user || pairing_has(p, instance, user))
        return;
    struct pairing_entry *const e = pairing_entry_new(instance, user, name);
    e->time_ms = bus_message_number((struct str){value, strlen(value)}, "/since_ms");
    e->next = p->people;
    p->people = e;
    p->n_people++;
    pairing_write(p, e, true, NULL, NULL);
    log_write(LOG_INFO, "host", "instance %s: user %s was paired on host \"%s\"", instance, user,
              host);
}

static void pairing_on_shared(void *ctx, const char *key, const char *host, const char *value)
{
    struct pairing *const p = ctx;
    if (value) {
        pairing_add_shared(p, host, value);
        return;
    }
    struct pairing_entry **const at = pairing_find_shared(p, key);
    if (!*at)
        return;
    log_write(LOG_INFO, "host", "instance %s: the pairing of user %s was revoked on host \"%s\"",
              (*at)->instance, (*at)->user, host);
    pairing_write(p, *at, false, NULL, NULL);
    pairing_unlink(at);
    p->n_people--;
}

/* Revoked here while the bus was unavailable. */
static void pairing_compare_shared(void *ctx, const char *key, const char *value)
{
    const struct pairing *const p = ctx;
    CLEANUP_FREE char *instance = shared_read_text(value, "/instance");
    CLEANUP_FREE char *user = shared_read_text(value, "/user");
    if (instance && !pairing_has(p, instance, user))
        shared_put(p->shared, key, NULL);
}

void pairing_join(struct pairing *p, struct shared_settings *shared)
{
    p->shared = shared_user_join(
        shared,
        &(struct shared_user_spec){.prefix = SHARED_KEY, .changed = pairing_on_shared, .ctx = p});
    shared_each(p->shared, pairing_compare_shared, p);
    for (const struct pairing_entry *e = p->people; e; e = e->next)
        pairing_publish(p, e, true);
}

/* ---- people ---- */

static struct pairing_tries *pairing_find_tries(struct pairing *p, const char *instance)
{
    struct pairing_tries *t = p->tries;
    while (t && strcmp(t->instance, instance) != 0)
        t = t->next;
    if (!t) {
        t = xcalloc(1, sizeof *t);
        *t = (struct pairing_tries){.next = p->tries, .instance = xstrdup(instance)};
        p->tries = t;
    }
    if (!t->n || clock_mono_ms() - t->since_ms >= PAIRING_TRIES_MS) {
        t->n = 0;
        t->since_ms = clock_mono_ms();
    }
    return t;
}

static bool is_same_code(const char *code, const char *given)
{
    unsigned differs = strlen(given) != PAIRING_CODE_LEN;
    for (size_t i = 0; !differs && i < PAIRING_CODE_LEN; i++)
        differs |= code[i] != toupper((unsigned char)given[i]);
    return !differs;
}

static struct pairing_entry **pairing_find_code(struct pairing *p, const char *instance,
                                                const char *code)
{
    struct pairing_entry **at = &p->codes;
    while (*at && (strcmp((*at)->instance, instance) != 0 || !is_same_code((*at)->code, code)))
        at = &(*at)->next;
    return at;
}

enum pairing_result pairing_accept(struct pairing *p, const char *instance, const char *code,
                                   struct pairing_person *person, journal_done_fn *done, void *ctx)
{
    struct pairing_tries *const tries = pairing_find_tries(p, instance);
    pairing_drop_expired(p);
    struct pairing_entry **const at = pairing_find_code(p, instance, code), *const e = *at;
    if (tries->n >= PAIRING_TRIES)
        return PAIRING_LIMITED;
    if (!e) {
        tries->n++;
        log_write(LOG_WARN, "host", "instance %s: wrong pairing code (%u of %d per hour)", instance,
                  tries->n, PAIRING_TRIES);
        return PAIRING_WRONG;
    }
    if (p->n_people >= PAIRING_PEOPLE_MAX)
        return PAIRING_FULL;
    pairing_write(p, e, false, NULL, NULL);
    *at = e->next;
    e->next = p->people;
    e->code[0] = 0;
    e->time_ms = pairing_now_ms();
    p->people = e;
    p->n_people++;
    tries->n = 0;
    *person = (struct pairing_person){e->instance, e->user, e->name, e->time_ms};
    log_write(LOG_INFO, "host", "instance %s: paired user %s", instance, e->user);
    pairing_write(p, e, true, done, ctx);
    pairing_publish(p, e, true);
    return PAIRING_DONE;
}

bool pairing_revoke(struct pairing *p, const char *instance, const char *user,
                    journal_done_fn *done, void *ctx)
{
    struct pairing_entry **const at = pairing_find(&p->people, instance, user);
    if (!*at)
        return false;
    log_write(LOG_INFO, "host", "instance %s: revoked the pairing of user %s", instance, user);
    pairing_write(p, *at, false, done, ctx);
    pairing_publish(p, *at, false);
    pairing_unlink(at);
    p->n_people--;
    return true;
}

void pairing_each(const struct pairing *p,
                  void (*each)(void *ctx, const struct pairing_person *person), void *ctx)
{
    for (const struct pairing_entry *e = p->people; e; e = e->next)
        each(ctx, &(struct pairing_person){e->instance, e->user, e->name, e->time_ms});
}
