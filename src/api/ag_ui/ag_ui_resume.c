/* SPDX-License-Identifier: MIT
 * Validates answers to interrupts: each open interrupt must be answered, and no answer may
 * contradict an earlier decision. */
#include "api/ag_ui/ag_ui_resume.h"

#include <stdlib.h>
#include <string.h>

#include "api/shared/api_internal.h"
#include "base/alloc.h"

#define ENTRIES_MAX 256

struct ag_ui_resume_entry {
    const char *id, *request; /* request: id within its turn */
    bool cancelled;
    json_t *body; /* JSON from which the decision borrows */
    struct request_api_decision decision;
};

struct resume {
    const struct api_context *api;
    const struct auth_principal *principal;
    const struct ag_ui_leg *leg;
    struct ag_ui_resume_entry *entries;
    size_t n;
    struct ag_ui_resume_error *why;
};

static bool ag_ui_resume_refuse(struct resume *r, const char *code, const char *id,
                                const char *message)
{
    r->why->code = code;
    buf_printf(&r->why->message, "Interrupt %s: %s", id, message);
    return false;
}

/* ---- a payload, as POST /turns/ID/requests/REQUEST takes it ---- */

static json_t *ag_ui_resume_choose(const char *choice)
{
    return json_pack("{ss}", "choice", choice);
}

/* {"approved", "editedArgs"} is the form that AG-UI recommends for approvals, and {"answer"} the
 * form for a question without an id; other members are passed on unchanged. */
static json_t *ag_ui_resume_read_object(const json_t *payload)
{
    json_t *const body = json_deep_copy(payload);
    const json_t *const approved = json_object_get(payload, "approved");
    json_t *const edited = json_object_get(payload, "editedArgs");
    json_t *const answer = json_object_get(payload, "answer");
    const bool chosen = json_object_get(payload, "choice") || json_object_get(payload, "decision");
    if (json_is_boolean(approved) && !chosen)
        json_object_set_new(body, "choice", json_string(json_is_true(approved) ? "allow" : "deny"));
    if (edited)
        json_object_set(body, "input", edited);
    if (answer && !json_object_get(payload, "answers"))
        json_object_set(body, "answers", answer);
    return body;
}

static json_t *ag_ui_resume_read_payload(const json_t *payload)
{
    if (json_is_boolean(payload))
        return ag_ui_resume_choose(json_is_true(payload) ? "allow" : "deny");
    if (json_is_string(payload))
        return json_pack("{sO}", "answers", payload);
    return json_is_object(payload) ? ag_ui_resume_read_object(payload) : NULL;
}

/* If both "approved" and a choice are present, they must agree. */
static bool ag_ui_resume_is_contradictory(const json_t *payload,
                                          const struct request_api_decision *d)
{
    const json_t *const approved = json_object_get(payload, "approved");
    const bool allows = strncmp(d->choice, "allow", 5) == 0;
    return approved && (!json_is_boolean(approved) || json_is_true(approved) != allows);
}

static bool ag_ui_resume_read_decision(struct resume *r, struct ag_ui_resume_entry *e,
                                       const json_t *payload)
{
    e->body = e->cancelled ? ag_ui_resume_choose("deny") : ag_ui_resume_read_payload(payload);
    if (!e->body)
        return ag_ui_resume_refuse(r, "invalid_payload", e->id,
                                   "payload must be an object, a string or a boolean.");
    const char *const wrong = request_api_parse_decision(&e->decision, e->body);
    if (wrong)
        return ag_ui_resume_refuse(r, "invalid_payload", e->id, wrong);
    if (ag_ui_resume_is_contradictory(payload, &e->decision))
        return ag_ui_resume_refuse(r, "invalid_payload", e->id,
                                   "approved and choice contradict each other.");
    if (e->cancelled)
        e->decision.text = "The question was dismissed.";
    return true;
}

/* ---- entries ---- */

static bool ag_ui_resume_is_duplicate(const struct resume *r, const char *id)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->entries[i].id, id) == 0)
            return true;
    return false;
}

/* A decided request stays decided. A client that only dismisses it may continue. */
static bool ag_ui_resume_check(struct resume *r, const struct ag_ui_resume_entry *e)
{
    static const char *const codes[] = {[ASKED_LATE] = "interrupt_decided",
                                        [ASKED_UNKNOWN] = "unknown_interrupt",
                                        [ASKED_WRONG] = "invalid_payload",
                                        [ASKED_BARRED] = "not_allowed"};
    struct request_api_result out;
    request_api_check(r->api, r->principal, r->leg->turn, e->request, &e->decision, &out);
    const bool fine = out.came == ASKED_DONE || (e->cancelled && out.came == ASKED_LATE);
    if (!fine)
        ag_ui_resume_refuse(r, codes[out.came], e->id, out.text.p);
    request_api_outcome_fini(&out);
    return fine;
}

static bool ag_ui_resume_read_entry(struct resume *r, const json_t *entry)
{
    const char *const id = json_string_value(json_object_get(entry, "interruptId"));
    const char *const status = json_string_value(json_object_get(entry, "status"));
    struct ag_ui_resume_entry e = {.id = id ? id : "?",
                                   .cancelled = status && !strcmp(status, "cancelled")};
    if (!id || !status || (!e.cancelled && strcmp(status, "resolved") != 0))
        return ag_ui_resume_refuse(
            r, "invalid_resume", e.id,
            "interruptId must be a string, and status must be \"resolved\" or \"cancelled\".");
    if (ag_ui_resume_is_duplicate(r, id))
        return ag_ui_resume_refuse(r, "invalid_resume", id, "answered more than once in resume.");
    e.request = ag_ui_run_get_request(r->leg, id);
    if (!e.request)
        return ag_ui_resume_refuse(r, "unknown_interrupt", id, "does not belong to this run.");
    struct ag_ui_resume_entry *const kept = &r->entries[r->n++];
    *kept = e;
    return ag_ui_resume_read_decision(r, kept, json_object_get(entry, "payload")) &&
           ag_ui_resume_check(r, kept);
}

static bool ag_ui_resume_is_answered(const struct resume *r, const char *request)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->entries[i].request, request) == 0)
            return true;
    return false;
}

/* A client must answer all open requests of its run. */
static bool ag_ui_resume_check_all_answered(struct resume *r)
{
    struct request_view view;
    for (size_t i = 0; i < r->leg->asked.n; i++) {
        const char *const request = r->leg->asked.ids[i];
        if (!ag_ui_resume_is_answered(r, request) &&
            request_api_find(r->api->host.requests, r->leg->turn, request, &view))
            return ag_ui_resume_refuse(r, "interrupt_unanswered", request,
                                       "not answered in resume; answer all open interrupts.");
    }
    return true;
}

static bool ag_ui_resume_read_all(struct resume *r, const json_t *entries)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(entries, i, entry) if (!ag_ui_resume_read_entry(r, entry)) return false;
    return ag_ui_resume_check_all_answered(r);
}

/* A decision may end other requests, e.g. a denial that ends the turn; deciding those fails, which
 * is ignored. */
static void ag_ui_resume_decide(const struct resume *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct ag_ui_resume_entry *const e = &r->entries[i];
        struct request_api_result out = {0};
        request_api_decide(r->api, r->principal, r->leg->turn, e->request, &e->decision, &out);
        request_api_outcome_fini(&out);
    }
}

static void ag_ui_resume_fini(struct resume *r)
{
    for (size_t i = 0; i < r->n; i++) {
        request_api_decision_fini(&r->entries[i].decision);
        json_decref(r->entries[i].body);
    }
    free(r->entries);
}

const struct ag_ui_leg *ag_ui_resume_apply(const struct api_context *a, struct ag_ui_legs *legs,
                                           const struct auth_principal *p, const char *thread,
                                           const json_t *entries, struct ag_ui_resume_error *why)
{
    const size_t n = json_array_size(entries);
    const char *const first =
        json_string_value(json_object_get(json_array_get(entries, 0), "interruptId"));
    struct resume r = {.api = a, .principal = p, .why = why};
    r.leg = first ? ag_ui_runs_find_interrupted(legs, thread, first) : NULL;
    if (!r.leg || n > ENTRIES_MAX) {
        ag_ui_resume_refuse(&r, "unknown_interrupt", first ? first : "?",
                            "not open in this thread.");
        return NULL;
    }
    r.entries = xcalloc(n, sizeof *r.entries);
    const bool good = ag_ui_resume_read_all(&r, entries);
    if (good)
        ag_ui_resume_decide(&r);
    ag_ui_resume_fini(&r);
    return good ? r.leg : NULL;
}
