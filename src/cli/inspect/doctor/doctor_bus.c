/* SPDX-License-Identifier: MIT
 * Tests the NATS servers of the bus: whether they can be reached, store messages, and have usable
 * streams. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "cli/inspect/doctor/doctor.h"
#include "core/bus/bus_message.h"
#include "core/bus/bus_permission.h"
#include "core/bus/bus_stream.h"
#include "core/host/host_sharing.h"
#include "io/nats/nats_client.h"

#define CONNECT_MS 5000
#define ASK_MS 3000
#define COMPLAINT_MS 300 /* the library reports refusals and replies in different threads */
#define NO_SUCH_STREAM 10059

struct doctor_bus {
    struct loop *loop;
    struct nats_client *client;
    bool is_connected, is_changed, is_answered;
    char text[200];
    enum nats_client_result result;
    struct buf reply;
    struct bus_permission permissions[BUS_PERMISSIONS_MAX];
    size_t n_permissions;
};

static void doctor_bus_on_changed(void *ctx, bool connected, const char *text)
{
    struct doctor_bus *const b = ctx;
    b->is_changed = true;
    b->is_connected = connected;
    snprintf(b->text, sizeof b->text, "%s", text);
}

static void doctor_bus_on_fault(void *ctx, const char *text)
{
    struct doctor_bus *const b = ctx;
    bus_permission_record(b->permissions, b->n_permissions, text);
}

static void doctor_bus_wait(struct doctor_bus *b, const bool *flag, int64_t ms)
{
    const int64_t end = clock_mono_ms() + ms;
    while (!*flag && clock_mono_ms() < end)
        loop_run_once(b->loop, 20);
}

static void doctor_bus_on_reply(void *ctx, enum nats_client_result result,
                                const struct nats_client_message *m)
{
    struct doctor_bus *const b = ctx;
    b->is_answered = true;
    b->result = result;
    buf_reset(&b->reply);
    if (m)
        buf_add(&b->reply, m->data.p, m->data.len);
}

/* False: no reply. */
static bool doctor_bus_request(struct doctor_bus *b, const char *subject)
{
    b->is_answered = false;
    nats_client_request(b->client,
                        &(struct nats_client_publication){.subject = subject, .data = STR("")},
                        ASK_MS, doctor_bus_on_reply, b);
    doctor_bus_wait(b, &b->is_answered, ASK_MS + 1000);
    return b->is_answered && b->result == NATS_CLIENT_REPLIED;
}

static void doctor_bus_compare_stream(struct doctor *d, const char *name, enum bus_stream_fit fit,
                                      const char *why)
{
    if (fit == BUS_STREAM_USELESS) {
        doctor_report(d, FINDING_ERROR, "bus", "stream %s has another %s than turncast needs", name,
                      why);
        doctor_suggest(d, "delete the stream, or set another bus.prefix");
    } else if (fit == BUS_STREAM_OTHER_LIMITS) {
        doctor_report(d, FINDING_WARNING, "bus", "stream %s has other limits: %s", name, why);
        doctor_suggest(d, "delete the stream while no host runs; it is created anew");
    }
}

/* A missing stream is created by the first host. */
static void doctor_bus_check_stream(struct doctor *d, struct doctor_bus *b, enum bus_stream stream)
{
    const struct bus_names names = {d->conf->bus.prefix, d->conf->host_name};
    CLEANUP_BUF struct buf name = {0}, subject = {0}, why = {0};
    struct bus_ack ack;
    bus_stream_name(&name, &names, stream);
    buf_printf(&subject, "$JS.API.STREAM.INFO.%s", name.p);
    if (!doctor_bus_request(b, subject.p))
        return;
    const struct str info = {b->reply.p, b->reply.len};
    bus_ack_read(info, &ack);
    if (ack.error)
        return;
    const enum bus_stream_fit fit =
        bus_stream_compare(info, &names, stream, d->conf->bus.replicas, &why);
    doctor_bus_compare_stream(d, name.p, fit, why.p);
}

static void doctor_bus_check_jetstream(struct doctor *d, struct doctor_bus *b)
{
    struct bus_ack ack = {0};
    const bool has_replied = doctor_bus_request(b, "$JS.API.INFO");
    if (has_replied)
        bus_ack_read((struct str){b->reply.p, b->reply.len}, &ack);
    if (!has_replied && b->result != NATS_CLIENT_NOBODY) {
        doctor_report(d, FINDING_ERROR, "bus", "%s does not answer requests for JetStream",
                      b->text);
        doctor_suggest(d, "permit the user to publish to $JS.API.> and to subscribe to _INBOX.>");
    } else if (!has_replied || ack.error) {
        doctor_report(d, FINDING_ERROR, "bus", "%s has no JetStream", b->text);
        doctor_suggest(d, "add jetstream { store_dir: \"/var/lib/nats\" } to its configuration");
    } else {
        doctor_report(d, FINDING_OK, "bus", "%s answers, with JetStream; this host is \"%s\"",
                      b->text, d->conf->host_name);
        for (int i = 0; i < BUS_STREAMS; i++)
            doctor_bus_check_stream(d, b, (enum bus_stream)i);
    }
}

static void doctor_bus_on_message(void *ctx, const struct nats_client_message *m)
{
    (void)ctx;
    (void)m;
}

/* Does all that a host does, without an effect: servers complain of what they do not permit. */
static void doctor_bus_try_permissions(struct doctor_bus *b)
{
    const bool never = false;
    for (size_t i = 0; i < b->n_permissions; i++) {
        const struct bus_permission *const p = &b->permissions[i];
        if (p->is_subscription)
            nats_client_subscribe(b->client, p->subject, doctor_bus_on_message, NULL);
        else
            nats_client_publish(
                b->client, &(struct nats_client_publication){.subject = p->subject,
                                                             .data = STR(""),
                                                             .is_conditional = true,
                                                             .expected = BUS_PERMISSION_SEQUENCE});
    }
    doctor_bus_request(b, "$JS.API.INFO");
    doctor_bus_wait(b, &never, COMPLAINT_MS);
}

static void doctor_bus_check_permissions(struct doctor *d, struct doctor_bus *b)
{
    struct arena arena = {0};
    CLEANUP_BUF struct buf missing = {0};
    b->n_permissions = bus_permission_list(d->conf, &arena, b->permissions);
    doctor_bus_try_permissions(b);
    bus_permission_write(b->permissions, b->n_permissions, &missing);
    if (missing.len) {
        doctor_report(d, FINDING_ERROR, "bus",
                      "the NATS servers do not permit the user of this host "
                      "all that it needs");
        doctor_suggest(d, "add to the user's permissions in nats.conf: %s", missing.p);
    }
    b->n_permissions = 0;
    arena_fini(&arena);
}

static void doctor_bus_check_size(struct doctor *d, const struct doctor_bus *b)
{
    const size_t max = nats_client_max_payload(b->client);
    if (max >= BUS_MESSAGE_LEAST)
        return;
    doctor_report(d, FINDING_ERROR, "bus", "%s takes messages of at most %zu bytes", b->text, max);
    doctor_suggest(d, "set max_payload: 1MB in its configuration");
}

static void doctor_bus_check_servers(struct doctor *d, struct doctor_bus *b)
{
    doctor_bus_wait(b, &b->is_changed, CONNECT_MS);
    if (b->is_connected) {
        doctor_bus_check_size(d, b);
        doctor_bus_check_jetstream(d, b);
        doctor_bus_check_permissions(d, b);
        return;
    }
    doctor_report(d, FINDING_ERROR, "bus", "cannot connect to %s: %s", d->conf->bus.urls[0],
                  b->is_changed ? b->text : "no answer");
    doctor_suggest(d, "start the NATS server, or change bus.url, bus.tls, or the bus.token or "
                      "bus.credentials of this host");
}

void doctor_check_sharing(struct doctor *d)
{
    CLEANUP_BUF struct buf shared = {0};
    if (host_sharing_describe(d->conf, &shared))
        doctor_report(d, FINDING_OK, "shared", "%s", shared.p);
}

void doctor_check_bus(struct doctor *d)
{
    const struct conf_bus *const bus = &d->conf->bus;
    struct doctor_bus b = {0};
    struct tc_err err = {0};
    if (!bus->urls)
        return;
    b.loop = loop_new();
    b.client = nats_client_new(&(struct nats_client_spec){.loop = b.loop,
                                                          .urls = (const char *const *)bus->urls,
                                                          .name = "turncast doctor",
                                                          .credentials = bus->credentials,
                                                          .token = bus->token,
                                                          .creds_file = bus->creds_file,
                                                          .ca = bus->tls.ca,
                                                          .cert = bus->tls.cert,
                                                          .key = bus->tls.key,
                                                          .tls = bus->is_encrypted,
                                                          .changed = doctor_bus_on_changed,
                                                          .fault = doctor_bus_on_fault,
                                                          .ctx = &b},
                               &err);
    if (b.client) {
        doctor_bus_check_servers(d, &b);
    } else {
        doctor_report(d, FINDING_ERROR, "bus", "%s", err_format(&err));
        doctor_suggest(d, "install the package libnats3.4");
    }
    nats_client_free(b.client);
    loop_free(b.loop);
    buf_fini(&b.reply);
}
