/* SPDX-License-Identifier: MIT
 * Owns the tickets that identify requests in buttons: random, for one instance, kept as long as
 * there is room. A ticket outlives its request, so that a late press gets an explanation. */
#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/uuid.h"
#include "core/request/request_internal.h"

static void request_ticket_forget(struct request_ticket *t)
{
    free(t->instance);
    free(t->turn);
    free(t->request);
    *t = (struct request_ticket){0};
}

void request_free_tickets(struct request_registry *r)
{
    for (size_t i = 0; i < REQUESTS_TICKETS && i < r->n_tickets; i++)
        request_ticket_forget(&r->tickets[i]);
}

/* Uses the random part of a UUID: at most 32 characters fit into a button. */
static void make_text(char text[33])
{
    char uuid[37];
    size_t n = 0;
    uuid_make(uuid);
    for (const char *p = uuid; *p; p++)
        if (*p != '-')
            text[n++] = *p;
    text[n] = '\0';
}

static const struct request_ticket *request_ticket_find(const struct request_registry *r,
                                                        const char *instance, const char *turn,
                                                        const char *request)
{
    for (size_t i = 0; i < REQUESTS_TICKETS && i < r->n_tickets; i++) {
        const struct request_ticket *const t = &r->tickets[i];
        if (strcmp(t->request, request) == 0 && strcmp(t->turn, turn) == 0 &&
            strcmp(t->instance, instance) == 0)
            return t;
    }
    return NULL;
}

const char *request_issue_ticket(struct request_registry *r, const char *instance, const char *turn,
                                 const char *request)
{
    const struct request *const q = request_find(r, turn, request);
    if (!q || q->state != REQUEST_OPEN)
        return NULL;
    const struct request_ticket *const known = request_ticket_find(r, instance, turn, request);
    if (known)
        return known->text;
    struct request_ticket *const t = &r->tickets[r->n_tickets++ % REQUESTS_TICKETS];
    request_ticket_forget(t);
    t->instance = xstrdup(instance);
    t->turn = xstrdup(turn);
    t->request = xstrdup(request);
    make_text(t->text);
    return t->text;
}

void request_make_guest_ticket(char text[REQUEST_TICKET_SIZE], const char *instance,
                               const char *turn, const char *request)
{
    struct sha256_ctx sha;
    uint8_t digest[REQUEST_TICKET_SIZE / 2];
    sha256_init(&sha);
    sha256_update(&sha, strlen(instance) + 1, (const uint8_t *)instance);
    sha256_update(&sha, strlen(turn) + 1, (const uint8_t *)turn);
    sha256_update(&sha, strlen(request), (const uint8_t *)request);
    sha256_digest(&sha, sizeof digest, digest);
    base16_encode_update(text, sizeof digest, digest);
    text[REQUEST_TICKET_SIZE - 1] = '\0';
}

bool request_find_ticket(const struct request_registry *r, const char *instance, const char *ticket,
                         const char **turn, const char **request)
{
    for (size_t i = 0; i < REQUESTS_TICKETS && i < r->n_tickets; i++) {
        const struct request_ticket *const t = &r->tickets[i];
        if (strcmp(t->text, ticket) != 0 || strcmp(t->instance, instance) != 0)
            continue;
        *turn = t->turn;
        *request = t->request;
        return true;
    }
    return false;
}
