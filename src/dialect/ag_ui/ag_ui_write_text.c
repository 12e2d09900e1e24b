/* SPDX-License-Identifier: MIT
 * Messages and reasoning; at most one of each is open. */
#include "dialect/ag_ui/ag_ui_write.h"

#define SAID_MAX ((size_t)8 << 20)

static const char *ag_ui_write_text_or_empty(const char *s)
{
    return s ? s : "";
}

static bool ag_ui_write_text_is_of(const struct ag_ui_open_message *said, const char *source,
                                   const char *tag)
{
    return said->open && strcmp(said->source.p, ag_ui_write_text_or_empty(source)) == 0 &&
           strcmp(said->tag.p, ag_ui_write_text_or_empty(tag)) == 0;
}

static void open_message_state(struct ag_ui_open_message *said, const char *source, const char *id,
                               const char *tag)
{
    said->open = true;
    ag_ui_write_replace(&said->source, source);
    ag_ui_write_replace(&said->id, id);
    ag_ui_write_replace(&said->tag, tag);
}

static struct buf *ag_ui_write_text_begin_of(const struct ag_ui_write_ctx *e, const char *type,
                                             const struct ag_ui_open_message *said)
{
    struct buf *const b = ag_ui_begin(e, type, said->tag.p);
    json_style_member_str(b, S, "messageId", said->id.p);
    return b;
}

static void ag_ui_write_text_write_content(const struct ag_ui_write_ctx *e, const char *type,
                                           const struct ag_ui_open_message *said, const char *text)
{
    struct buf *const b = ag_ui_write_text_begin_of(e, type, said);
    json_style_member_str(b, S, "delta", text);
    ag_ui_end(e, b, ag_ui_x(e));
}

/* Text. */

void ag_ui_close_text(const struct ag_ui_write_ctx *e, struct str x)
{
    struct ag_ui_open_message *const text = &e->w->text;
    if (!text->open)
        return;
    text->open = false;
    ag_ui_end(e, ag_ui_write_text_begin_of(e, "TEXT_MESSAGE_END", text), x);
}

static void open_text(const struct ag_ui_write_ctx *e, const char *source, const char *role)
{
    struct ag_ui_open_message *const text = &e->w->text;
    const char *const tag = ag_ui_tag(e);
    const struct str start = ag_ui_x_member(e, "TEXT_MESSAGE_START");
    if (ag_ui_write_text_is_of(text, source, tag))
        return;
    ag_ui_close_text(e, (struct str){0});
    ag_ui_close_reasoning(e);
    open_message_state(text, source, ag_ui_new_id(e, source, source), tag);
    struct buf *const b = ag_ui_write_text_begin_of(e, "TEXT_MESSAGE_START", text);
    if (!start.p)
        json_style_member_str(b, S, "role", role);
    ag_ui_end(e, b, start);
}

static void ag_ui_write_text_record_written(struct ag_ui_writer *w, const char *text, size_t len)
{
    if (w->said.len + len > SAID_MAX)
        buf_consume(&w->said, w->said.len / 2);
    if (len <= SAID_MAX)
        buf_add(&w->said, text, len);
}

/* A 0.x reader would take a sub-agent's text for the agent's, so it does not get that text. */
void ag_ui_write_narration(const struct ag_ui_write_ctx *e)
{
    const struct tc_narration *const n = &e->ev->u.narration;
    if (ag_ui_is_child(e) && !e->v1)
        return;
    open_text(e, n->message_id, "assistant");
    ag_ui_write_text_write_content(e, "TEXT_MESSAGE_CONTENT", &e->w->text, n->text);
    if (!ag_ui_is_child(e))
        ag_ui_write_text_record_written(e->w, n->text, n->text_len);
}

static struct str ag_ui_write_text_trim(const char *p, size_t len)
{
    static const char white[] = " \t\r\n";
    while (len && strchr(white, p[len - 1]))
        len--;
    while (len && strchr(white, *p)) {
        p++;
        len--;
    }
    return (struct str){p, len};
}

/* Writes only the part of the text that was not streamed. */
void ag_ui_write_final(const struct ag_ui_write_ctx *e)
{
    const struct tc_final *const final = &e->ev->u.final;
    const struct str text = ag_ui_write_text_trim(final->text, final->text_len);
    const struct str said =
        ag_ui_write_text_trim(ag_ui_write_text_or_empty(e->w->said.p), e->w->said.len);
    if (!text.len || ag_ui_x_member(e, "derived").p || e->own)
        return;
    if (said.len >= text.len && memcmp(said.p + said.len - text.len, text.p, text.len) == 0)
        return;
    ag_ui_close_text(e, (struct str){0});
    open_text(e, final->message_id, "assistant");
    ag_ui_write_text_write_content(e, "TEXT_MESSAGE_CONTENT", &e->w->text, final->text);
    ag_ui_close_text(e, (struct str){0});
}

/* Reasoning: a span around each message, unless the source defines spans. */

static void close_reasoning_message(const struct ag_ui_write_ctx *e, struct str x)
{
    struct ag_ui_open_message *const reasoning = &e->w->reasoning;
    if (!reasoning->open)
        return;
    reasoning->open = false;
    ag_ui_end(e, ag_ui_write_text_begin_of(e, "REASONING_MESSAGE_END", reasoning), x);
}

void ag_ui_close_reasoning(const struct ag_ui_write_ctx *e)
{
    struct ag_ui_open_message *const span = &e->w->span;
    close_reasoning_message(e, (struct str){0});
    if (!span->open)
        return;
    span->open = false;
    ag_ui_end(e, ag_ui_write_text_begin_of(e, "REASONING_END", span), (struct str){0});
}

/* The span of a new message: its own, the source's, or (source "") none. */
static void open_span(const struct ag_ui_write_ctx *e, const char *id, const char *tag)
{
    struct ag_ui_open_message *const span = &e->w->span;
    const char *const named = value_text(e->a, ag_ui_x_member(e, "span"), NULL);
    if (named && *named && ag_ui_write_text_is_of(span, named, tag))
        return;
    ag_ui_close_reasoning(e);
    if (named && !*named)
        return;
    open_message_state(span, named, named ? ag_ui_new_id(e, named, NULL) : id, tag);
    ag_ui_end(e, ag_ui_write_text_begin_of(e, "REASONING_START", span),
              ag_ui_x_member(e, "REASONING_START"));
}

static void open_reasoning(const struct ag_ui_write_ctx *e, const char *source)
{
    struct ag_ui_open_message *const reasoning = &e->w->reasoning;
    const char *const tag = ag_ui_tag(e);
    if (ag_ui_write_text_is_of(reasoning, source, tag))
        return;
    ag_ui_close_text(e, (struct str){0});
    close_reasoning_message(e, (struct str){0});
    /* In other sources, a message's text may have the same id. */
    const char *const base =
        source && !e->own ? arena_sprintf(e->a, "%s-reasoning", source) : source;
    const char *const id = ag_ui_new_id(e, base, source);
    open_span(e, id, tag);
    open_message_state(reasoning, source, id, tag);
    struct buf *const b = ag_ui_write_text_begin_of(e, "REASONING_MESSAGE_START", reasoning);
    json_style_member_str(b, S, "role", "reasoning");
    ag_ui_end(e, b, ag_ui_x_member(e, "REASONING_MESSAGE_START"));
}

static void write_encrypted(const struct ag_ui_write_ctx *e)
{
    const struct tc_thinking *const t = &e->ev->u.thinking;
    const struct ag_ui_open_message *const last = &e->w->reasoning;
    const bool of_call = t->entity && strcmp(t->entity, "tool-call") == 0;
    const bool known =
        last->id.len && (!t->message_id || strcmp(last->source.p, t->message_id) == 0);
    const char *const entity = t->entity_id && (e->own || of_call) ? ag_ui_scoped(e, t->entity_id)
                               : known                             ? last->id.p
                                                                   : ag_ui_scoped(e, t->message_id);
    if (!entity)
        return; /* it cannot be assigned to a message */
    struct buf *const b = ag_ui_begin(e, "REASONING_ENCRYPTED_VALUE", NULL);
    json_style_member_str(b, S, "subtype", of_call ? "tool-call" : "message");
    json_style_member_str(b, S, "entityId", entity);
    json_style_member_str(b, S, "encryptedValue", t->encrypted);
    ag_ui_end(e, b, ag_ui_x(e));
}

void ag_ui_write_thinking(const struct ag_ui_write_ctx *e)
{
    const struct tc_thinking *const t = &e->ev->u.thinking;
    if (ag_ui_is_child(e) && !e->v1)
        return;
    if (t->text_len) {
        open_reasoning(e, t->message_id);
        ag_ui_write_text_write_content(e, "REASONING_MESSAGE_CONTENT", &e->w->reasoning, t->text);
    }
    if (t->encrypted)
        write_encrypted(e);
}

/* Writes the end of a message, or a complete message of another author. */

static bool is_other(const struct tc_message *m)
{
    static const char *const roles[] = {"user", "system", "developer"};
    for (size_t i = 0; m->role && i < sizeof(roles) / sizeof(roles[0]); i++)
        if (strcmp(m->role, roles[i]) == 0)
            return true;
    return false;
}

static void write_whole(const struct ag_ui_write_ctx *e)
{
    const struct tc_message *const m = &e->ev->u.message;
    ag_ui_close_text(e, (struct str){0});
    open_text(e, m->message_id, m->role);
    if (m->text_len) {
        struct buf *const b = ag_ui_write_text_begin_of(e, "TEXT_MESSAGE_CONTENT", &e->w->text);
        json_style_member_str(b, S, "delta", m->text);
        ag_ui_end_plain(e, b);
    }
    ag_ui_close_text(e, ag_ui_x(e));
}

void ag_ui_write_message(const struct ag_ui_write_ctx *e)
{
    const struct tc_message *const m = &e->ev->u.message;
    struct ag_ui_writer *const w = e->w;
    const char *const tag = ag_ui_tag(e);
    if (ag_ui_is_child(e) && !e->v1)
        return;
    const bool nameless = !m->message_id;
    if (w->reasoning.open &&
        (nameless || ag_ui_write_text_is_of(&w->reasoning, m->message_id, tag)) && !m->text) {
        close_reasoning_message(e, ag_ui_x(e));
        return;
    }
    if (w->text.open && (ag_ui_write_text_is_of(&w->text, m->message_id, tag) ||
                         (nameless && strcmp(w->text.tag.p, ag_ui_write_text_or_empty(tag)) == 0)))
        ag_ui_close_text(e, ag_ui_x(e));
    else if (is_other(m) || ag_ui_x_member(e, "TEXT_MESSAGE_START").p)
        write_whole(e);
}
