/* SPDX-License-Identifier: MIT
 * HTTP routes and WebSockets for connectors. */
#include "base/sys/log.h"
#include "base/versioned.h"
#include "plugin/instance/services_internal.h"

#define CALLBACK_FRAMES ((size_t)4 << 20) /* limit of bytes sent by one callback */

int service_route(struct tc_instance *inst, const char *path)
{
    struct instance *const in = instance_check_thread(inst, "tc_route");
    if (!in || !services_check_offered(in, "tc_route", in->host.has_server, OFFER_ROUTE))
        return -1;
    if (!validate_path(path))
        return services_refuse(in, "tc_route",
                               "invalid path; use /NAME of letters, digits, \"-\" and \"_\"");
    in->host.route(in->host.ctx, path);
    return 0;
}

int service_hit_answer(struct tc_instance *inst, uint64_t number, const struct tc_answer *answer)
{
    struct instance *const in = instance_check_thread(inst, "tc_hit_answer");
    if (!in || !services_check_offered(in, "tc_hit_answer", in->host.hit_answer, OFFER_ROUTE))
        return -1;
    struct tc_answer a = answer ? *answer : (struct tc_answer){0};
    a.later = false;
    const char *const fault = answer ? instance_complete_answer(&a) : "NULL";
    if (fault) {
        log_write(LOG_ERR, in->label, "tc_hit_answer: the response is %s", fault);
        return -1;
    }
    in->host.hit_answer(in->host.ctx, number, &a);
    return 0;
}

struct instance_socket *instance_socket_find(struct instance *in, int64_t number)
{
    for (size_t i = 0; i < INSTANCE_SOCKETS && number > 0; i++)
        if (in->sockets.all[i].number == number)
            return &in->sockets.all[i];
    return NULL;
}

static struct instance_socket *services_net_find_free_socket(struct instance *in)
{
    for (size_t i = 0; i < INSTANCE_SOCKETS; i++)
        if (!in->sockets.all[i].number)
            return &in->sockets.all[i];
    return NULL;
}

int64_t service_socket_open(struct tc_instance *inst, const struct tc_socket *socket)
{
    struct instance *const in = instance_check_thread(inst, "tc_socket_open");
    if (!in || !services_check_offered(in, "tc_socket_open", in->host.socket_open, OFFER_SOCKET))
        return -1;
    struct tc_socket spec;
    versioned_copy(&spec, sizeof spec, socket);
    const char *const fault = validate_socket(&spec);
    if (fault)
        return services_refuse(in, "tc_socket_open", fault);
    struct instance_socket *const s = services_net_find_free_socket(in);
    if (!s)
        return services_refuse(in, "tc_socket_open", "too many sockets are open");
    spec.size = sizeof spec;
    s->number = ++in->sockets.last_number;
    in->host.socket_open(in->host.ctx, s->number, &spec);
    return s->number;
}

/* Not logged, because a socket that has just closed is no error of the plugin. */
static int services_send_frame(struct tc_instance *inst, const char *service, int64_t socket,
                               struct str message, bool is_binary)
{
    struct instance *const in = instance_check_thread(inst, service);
    const struct instance_socket *const s = in ? instance_socket_find(in, socket) : NULL;
    if (!s || !s->open || s->closing || !in->host.socket_send)
        return -1;
    if (!validate_socket_message(message, is_binary))
        return services_refuse(in, service, "the message is missing, too long or not UTF-8");
    if (message.len > CALLBACK_FRAMES - in->sockets.framed)
        return services_refuse(in, service, "too much data in this callback");
    in->sockets.framed += message.len;
    in->host.socket_send(in->host.ctx, socket, message, is_binary);
    return 0;
}

int service_socket_send(struct tc_instance *inst, int64_t socket, const char *text, size_t len)
{
    return services_send_frame(inst, "tc_socket_send", socket, (struct str){text, len}, false);
}

int service_socket_send_binary(struct tc_instance *inst, int64_t socket, const void *data,
                               size_t len)
{
    return services_send_frame(inst, "tc_socket_send_binary", socket, (struct str){data, len},
                               true);
}

void service_socket_close(struct tc_instance *inst, int64_t socket)
{
    struct instance *const in = instance_check_thread(inst, "tc_socket_close");
    struct instance_socket *const s = in ? instance_socket_find(in, socket) : NULL;
    if (!s || s->closing || !in->host.socket_close)
        return;
    s->closing = true;
    in->host.socket_close(in->host.ctx, socket);
}
