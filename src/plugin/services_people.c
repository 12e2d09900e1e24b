/* SPDX-License-Identifier: MIT
 * Owns the way of a person's message to the host: checked here, admitted there. */
#include "base/alloc.h"
#include "base/clock.h"
#include "event/json.h"
#include "plugin/services_parts.h"

#define ASK_MS 30000 /* longer than any commit takes that is worth waiting for */
#define ID_MAX ((size_t)512)
#define TEXT_MAX ((size_t)1 << 20)
#define QUOTE_MAX ((size_t)64 << 10)
#define ROUTE_MAX ((size_t)4 << 10)
#define PATH_MAX_LEN ((size_t)4 << 10)
#define FILES_MAX ((size_t)32)

/* A plugin built against an older header knows fewer members. */
static struct tc_inbound complete(const struct tc_inbound *given)
{
    struct tc_inbound in = {0};
    if (given)
        memcpy(&in, given, given->size < sizeof in ? given->size : sizeof in);
    in.text = in.text ? in.text : "";
    return in;
}

static bool is_json(const char *text)
{
    struct json j;
    json_start(&j, text, strlen(text));
    json_skip(&j, NULL);
    return json_finish(&j) == 0;
}

static const char *check_files(const struct tc_inbound *in)
{
    if (in->file_count > FILES_MAX)
        return "there are too many files";
    if (in->file_count && !in->files)
        return "the list of files is NULL";
    for (size_t i = 0; i < in->file_count; i++) {
        if (!in->files[i] || !services_is_text(in->files[i], PATH_MAX_LEN))
            return "a file has no path, or one that is too long or not UTF-8";
        if (in->file_names && !services_is_text(in->file_names[i], PATH_MAX_LEN))
            return "the name of a file is too long or not UTF-8";
    }
    return NULL;
}

static const char *check(const struct tc_inbound *in)
{
    const struct {
        const char *text;
        size_t max;
        bool needed;
        const char *wrong;
    } texts[] = {
        {in->id, ID_MAX, true, "the id is missing, too long or not UTF-8"},
        {in->also, ID_MAX, false, "the other id is too long or not UTF-8"},
        {in->chat, ID_MAX, true, "the chat is missing, too long or not UTF-8"},
        {in->thread, ID_MAX, false, "the thread is too long or not UTF-8"},
        {in->user, ID_MAX, true, "the user is missing, too long or not UTF-8"},
        {in->name, ID_MAX, false, "the name is too long or not UTF-8"},
        {in->text, TEXT_MAX, in->file_count == 0, "the text is missing, too long or not UTF-8"},
        {in->quote, QUOTE_MAX, false, "the quote is too long or not UTF-8"},
        {in->route, ROUTE_MAX, false, "the route is too long or not UTF-8"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].needed && (!texts[i].text || !*texts[i].text))
            return texts[i].wrong;
        if (!services_is_text(texts[i].text, texts[i].max))
            return texts[i].wrong;
    }
    if (in->route && !is_json(in->route))
        return "the route is no JSON";
    return check_files(in);
}

/* Where the plugin wants no receipt there is one all the same. The wait is the host's: it does not
 * count as the callback's. */
static enum tc_accepted put(struct instance *in, struct ask *a, struct tc_receipt *receipt)
{
    struct tc_receipt ignored;
    in->host.ask(in->host.ctx, a);
    const enum tc_accepted accepted =
        ask_wait(a, ASK_MS, &in->scratch, receipt ? receipt : &ignored);
    gauge_restart(in->gauge);
    return accepted;
}

static void clear(struct tc_receipt *receipt)
{
    if (receipt)
        *receipt = (struct tc_receipt){0};
}

/* What is not valid will not become so: it must not come again. */
enum tc_accepted service_submit(struct tc_turn *turn, const struct tc_inbound *inbound,
                                struct tc_receipt *receipt)
{
    clear(receipt);
    struct instance_turn *const t = instance_check_turn(turn, "tc_submit");
    if (!t || !services_offered(t->in, "tc_submit", t->in->host.ask, OFFER_ASK))
        return TC_NOT_KEPT;
    const struct tc_inbound in = complete(inbound);
    const char *const fault = check(&in);
    if (fault) {
        services_refuse(t->in, "tc_submit", fault);
        return TC_DENIED;
    }
    return put(t->in, ask_new_submit(t->in->name, &in), receipt);
}

enum tc_accepted service_cancel(struct tc_turn *turn, const char *id, const char *user,
                                struct tc_receipt *receipt)
{
    clear(receipt);
    struct instance_turn *const t = instance_check_turn(turn, "tc_cancel");
    if (!t || !services_offered(t->in, "tc_cancel", t->in->host.ask, OFFER_ASK))
        return TC_NOT_KEPT;
    if (!id || !user || !services_is_text(id, ID_MAX) || !services_is_text(user, ID_MAX)) {
        services_refuse(t->in, "tc_cancel", "the turn or the user is missing or not valid");
        return TC_DENIED;
    }
    return put(t->in, ask_new_cancel(t->in->name, id, user), receipt);
}

bool service_may_submit(struct tc_turn *turn, const char *user, const char *chat)
{
    struct instance_turn *const t = instance_check_turn(turn, "tc_may_submit");
    if (!t || !services_offered(t->in, "tc_may_submit", t->in->host.ask, OFFER_ASK))
        return false;
    if (!user || !chat || !services_is_text(user, ID_MAX) || !services_is_text(chat, ID_MAX)) {
        services_refuse(t->in, "tc_may_submit", "the user or the chat is missing or not valid");
        return false;
    }
    return put(t->in, ask_new_may(t->in->name, user, chat), NULL) == TC_ACCEPTED;
}
