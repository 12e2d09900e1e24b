/* SPDX-License-Identifier: MIT
 * Tests of a client that is freed while threads of libnats still run: their later callbacks are
 * ignored, and the memory that they use is still allocated. Some functions of the library are
 * replaced, so that it does not complete subscriptions, or is not closed in time. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys/clock.h"
#include "io/nats/libnats_dl.h"
#include "io/nats/nats_client.h"
#include "io/nats_server.h"
#include "tap/tap.h"

#define DEADLINE_MS 30000
#define SUBSCRIPTIONS_MAX 4

static struct libnats real;

/* The callbacks that were passed to the library. */
static struct {
    natsMsgHandler on_message;
    natsOnCompleteCB on_complete;
    void *closure;
} callbacks[SUBSCRIPTIONS_MAX];
static size_t n_callbacks;
static natsConnectionHandler on_closed;
static void *closed_closure;
static natsErrHandler on_error;
static void *error_closure;
static bool completes;          /* whether the library completes subscriptions by itself */
static natsStatus close_status; /* the result of the function that would close the library */
static unsigned n_closes;
/* Keeps the pointers of the library, so that a leak checker finds the memory. */
static void *volatile held[2];
static size_t n_held;

static natsStatus replaced_subscribe(natsSubscription **s, natsConnection *nc, const char *subject,
                                     natsMsgHandler cb, void *closure)
{
    callbacks[n_callbacks].on_message = cb;
    callbacks[n_callbacks].closure = closure;
    return real.natsConnection_Subscribe(s, nc, subject, cb, closure);
}

static natsStatus replaced_set_on_complete(natsSubscription *s, natsOnCompleteCB cb, void *closure)
{
    callbacks[n_callbacks++].on_complete = cb;
    return completes ? real.natsSubscription_SetOnCompleteCB(s, cb, closure) : NATS_OK;
}

static natsStatus replaced_set_closed(natsOptions *o, natsConnectionHandler cb, void *closure)
{
    on_closed = cb;
    closed_closure = closure;
    return real.natsOptions_SetClosedCB(o, cb, closure);
}

static natsStatus replaced_set_error(natsOptions *o, natsErrHandler cb, void *closure)
{
    on_error = cb;
    error_closure = closure;
    return real.natsOptions_SetErrorHandler(o, cb, closure);
}

static natsStatus replaced_close(int64_t timeout_ms)
{
    (void)timeout_ms;
    n_closes++;
    return close_status;
}

/* Replaces the function of libnats_dl.c, which is not linked. */
int libnats_load(struct libnats *nats, struct tc_err *err)
{
    void *const library = dlopen("libnats.so.3.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *address;
    if (!library)
        return err_set(err, "libnats.so.3.4", "cannot load: %s", dlerror());
#define FIND(name)                                                                                 \
    address = dlsym(library, #name);                                                               \
    memcpy(&real.name, &address, sizeof address);
    LIBNATS_FUNCTIONS(FIND)
#undef FIND
    *nats = real;
    nats->natsConnection_Subscribe = replaced_subscribe;
    nats->natsSubscription_SetOnCompleteCB = replaced_set_on_complete;
    nats->natsOptions_SetClosedCB = replaced_set_closed;
    nats->natsOptions_SetErrorHandler = replaced_set_error;
    nats->nats_CloseAndWait = replaced_close;
    return 0;
}

static bool is_up;
static unsigned n_received;

static void on_changed(void *ctx, bool connected, const char *text)
{
    (void)ctx;
    (void)text;
    is_up = connected;
}

static void on_message(void *ctx, const struct nats_client_message *m)
{
    (void)ctx;
    n_received += str_is(m->data, "hi");
}

static void run_until(struct loop *loop, const bool *up, const unsigned *count, unsigned n)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while ((!*up || *count < n) && clock_mono_ms() < end)
        loop_run_once(loop, 20);
}

/* Allocates and fills the blocks that were freed last, for each size that the allocator keeps for
 * the thread, so that later uses of them crash without a sanitizer, too. */
static void overwrite_freed(void)
{
    static void *blocks[64][8];
    for (size_t i = 0; i < 64; i++)
        for (size_t j = 0; j < 8; j++)
            memset(blocks[i][j] = malloc(24 + 16 * i), 0x52, 24 + 16 * i);
    for (size_t i = 0; i < 64; i++)
        for (size_t j = 0; j < 8; j++)
            free(blocks[i][j]);
}

/* Calls the callbacks of the library after the client was freed. */
static void report_late(void)
{
    for (size_t i = 0; !completes && i < n_callbacks; i++) {
        natsMsg *m = NULL;
        if (real.natsMsg_Create(&m, "late", NULL, "hi", 2) != NATS_OK)
            bail("no message");
        callbacks[i].on_message(NULL, NULL, m, callbacks[i].closure);
    }
    on_error(NULL, NULL, NATS_SLOW_CONSUMER, error_closure);
    on_closed(NULL, closed_closure);
    for (size_t i = 0; !completes && i < n_callbacks; i++)
        callbacks[i].on_complete(callbacks[i].closure);
}

static bool test_end(struct nats_server *server, bool with_completion, natsStatus status)
{
    struct loop *const loop = loop_new();
    completes = with_completion;
    close_status = status;
    n_callbacks = n_received = n_closes = 0;
    is_up = false;
    struct nats_client *const c = nats_server_connect(server, loop, on_changed);
    if (!c)
        return false;
    nats_client_subscribe(c, "a", on_message, NULL);
    run_until(loop, &is_up, &n_received, 0);
    nats_client_publish(c, &(struct nats_client_publication){.subject = "a", .data = STR("hi")});
    run_until(loop, &is_up, &n_received, 1);
    is_int(n_received, 1, "a message arrives");
    const int64_t begin = clock_mono_ms();
    nats_client_free(c);
    overwrite_freed();
    ok(n_closes == 1 && clock_mono_ms() - begin < DEADLINE_MS, "the client is freed in time");
    is_int(n_callbacks, 2, "the client has made two subscriptions");
    report_late();
    held[n_held++] = closed_closure;
    loop_run_once(loop, 0);
    loop_free(loop);
    is_int(n_received, 1, "late callbacks of the library are ignored");
    nats_server_kill(server);
    return true;
}

int main(void)
{
    struct nats_server server = {0};
    plan_lazy();
    if (!test_end(&server, false, NATS_OK))
        return 0;
    test_end(&server, true, NATS_TIMEOUT);
    return 0;
}
