/* SPDX-License-Identifier: MIT
 * Delivery of the outcome of a turn: sends its parts, decides after each result how a part
 * continues, and cleans up the progress message when the last part has arrived. */
#include <string.h>

#include "base/bytes/utf8.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "chat/chat_internal.h"
#include "chat/operation/chat_delivery.h"
#include "text/sentence/texts.h"

#define DAY_MS ((int64_t)24 * 3600 * 1000)
#define FILE_MAX ((size_t)14 << 20)     /* limit of the outbox for one durable request */
#define STREAMED_MAX ((size_t)96 << 10) /* the record of a stream contains the complete answer */
/* With finalize = edit, people would not notice the edit of an older message. */
#define EDIT_YOUNG_MS 60000

static struct chat_delivery_policy chat_outcome_make_policy(const struct chat *c)
{
    return (struct chat_delivery_policy){
        .idempotency = c->table.idempotency,
        .idempotency_ms = c->table.idempotency_ms,
        .can_edit = chat_can(c, TC_OP_EDIT),
        .can_file = chat_can(c, TC_OP_FILE),
        .repeats_end = c->table.stream_whole,
        .drops_doubts = c->options.drops_doubts,
        .now_ms = chat_unix_ms(),
    };
}

/* ---- sending ---- */

static bool can_finalize_by_edit(const struct chat_turn *t, size_t parts)
{
    const struct chat *const c = t->chat;
    const int64_t age = clock_mono_ms() - t->live.created_ms;
    return c->options.finalize_edit && parts == 1 && chat_can(c, TC_OP_EDIT) &&
           chat_live_message_id(t) && age < EDIT_YOUNG_MS &&
           (!c->table.edit_age_ms || age < c->table.edit_age_ms);
}

static struct chat_record part_record(const struct chat_turn *t, size_t part)
{
    const int64_t now = chat_unix_ms();
    return (struct chat_record){
        .op = TC_OP_POST,
        .role = TC_ROLE_ANSWER,
        .state = CHAT_POSTING,
        .slot = CHAT_SLOT_ANSWER,
        .target = t->target,
        .live = chat_live_message_id(t),
        .part = (unsigned)part,
        .silent = part > 0,
        .since_ms = now,
        .until_ms = now + DAY_MS,
    };
}

/* Way in which the parts of an answer are sent. */
struct chat_outcome_way {
    uint32_t flags; /* of tc_text */
    size_t done;    /* number of parts that have arrived; then all others are sent, without a
                       limit */
    unsigned generation;
    bool edits;     /* the progress message becomes the answer */
    bool marked;    /* an earlier attempt may have arrived */
    bool ended;     /* the text contains the footer */
    bool tail;      /* the parts follow a native stream */
    json_t *button; /* button of the last part, as in a record; or NULL */
};

static int send_piece(struct chat_turn *t, const struct text_piece *p, size_t part, bool last,
                      const struct chat_outcome_way *way)
{
    CLEANUP_BUF struct buf summary = {0};
    struct chat_record r = part_record(t, part);
    r.generation = way->generation;
    r.slot = way->tail ? CHAT_SLOT_TAIL : r.slot;
    r.tried.marked = way->marked;
    r.text = p->text;
    r.entities = p->entities;
    r.plain = p->plain;
    r.last = last;
    if (last) {
        r.buttons = way->button;
        chat_view_write_summary(&summary, &t->view, clock_mono_ms());
        t->told_tokens = t->view.tokens > 0;
        r.summary = summary.p;
    }
    if (way->edits) {
        r.op = TC_OP_EDIT;
        r.state = CHAT_EDITING;
        r.message = r.live;
        r.beside.edits = chat_live_late_ms(t) > 0;
    }
    return chat_send(t->chat, t->turn, &r, NULL);
}

/* Sends the text as a file; note: text of the message with the file. */
static int send_file(struct chat_turn *t, const char *text, size_t len, const char *note)
{
    CLEANUP_BUF struct buf summary = {0};
    struct chat_record r = part_record(t, 1);
    const size_t most = t->chat->table.file_bytes && t->chat->table.file_bytes < FILE_MAX
                            ? t->chat->table.file_bytes
                            : FILE_MAX;
    chat_view_write_summary(&summary, &t->view, clock_mono_ms());
    r.op = TC_OP_FILE;
    r.state = CHAT_FILING;
    r.file.name = "answer.md";
    r.file.type = "text/markdown; charset=utf-8";
    r.text = r.plain = len > most ? texts_get(TEXT_CHAT_FILE_CUT) : note;
    r.last = true;
    r.summary = summary.p;
    const struct chat_send_extra extra = {.data = text, .len = utf8_truncated_len(text, len, most)};
    return chat_send(t->chat, t->turn, &r, &extra);
}

/* ---- the footer ---- */

/* Returns the footer of an answer, made from the values that the turn has reported so far; "" if
 * there are none. Without a time if the turn began in an earlier process. */
static const char *footer_of(const struct chat_turn *t)
{
    CLEANUP_BUF struct buf footer = {0};
    if (t->chat->options.footer)
        chat_view_write_footer(&footer, &t->view,
                               t->live.began ? clock_mono_ms() - t->view.began_ms : -1);
    return footer.len ? arena_strdup(&t->chat->scratch, footer.p) : "";
}

static const struct text_piece *render_outcome(struct chat *c, const char *markdown, size_t len,
                                               uint32_t flags, size_t *count)
{
    return chat_text_render(&c->scratch, &c->table, TC_ROLE_ANSWER, markdown, len,
                            &(struct chat_text_options){.flags = flags}, count);
}

/* Returns the outcome with its footer. NULL: the footer is empty, or would need too many
 * messages. */
static const struct text_piece *add_footer(struct chat *c, const char *markdown, const char *footer,
                                           uint32_t flags, size_t most, size_t *count)
{
    size_t more;
    const char *const mark = flags & TC_VERBATIM ? "" : "_";
    const char *const text =
        arena_sprintf(&c->scratch, "%s\n\n%s%s%s", markdown, mark, footer, mark);
    const struct text_piece *const pieces =
        *footer ? render_outcome(c, text, strlen(text), flags, &more) : NULL;
    if (!pieces || more > most)
        return NULL;
    *count = more;
    return pieces;
}

/* ---- the outcome ---- */

static int send_parts(struct chat_turn *t, const char *markdown, size_t len,
                      struct chat_outcome_way way)
{
    struct chat *const c = t->chat;
    const bool can_file = chat_can(c, TC_OP_FILE);
    const bool trims = c->options.overflow == CHAT_OVERFLOW_TRIM;
    const size_t most =
        c->options.overflow == CHAT_OVERFLOW_FILE && can_file ? 1 : c->options.max_parts;
    const char *const silence = texts_get(TEXT_CHAT_SILENT), *const footer =
                                                                 way.ended ? "" : footer_of(t);
    size_t count;
    const struct text_piece *pieces = render_outcome(c, markdown, len, way.flags, &count);
    if (!pieces) {
        way.flags = TC_VERBATIM;
        return strcmp(markdown, silence) == 0 ? -1 : send_parts(t, silence, strlen(silence), way);
    }
    const struct text_piece *const whole = add_footer(c, markdown, footer, way.flags, most, &count);
    pieces = whole ? whole : pieces;
    const bool over = count > most && !way.done, files = over && can_file && !trims;
    const size_t shown = files ? 1 : over && trims ? most : count;
    way.edits = can_finalize_by_edit(t, count);
    int rc = 0;
    for (size_t i = way.done; i < shown; i++)
        rc |= send_piece(t, &pieces[i], i, i + 1 == shown && !files, &way);
    return files ? rc | send_file(t, markdown, len, footer) : rc;
}

/* ---- as one message of Markdown ---- */

static int send_source(struct chat_turn *t, const char *markdown)
{
    CLEANUP_BUF struct buf summary = {0};
    struct chat_record r = part_record(t, 0);
    chat_view_write_summary(&summary, &t->view, clock_mono_ms());
    const char *const footer = footer_of(t);
    r.slot = CHAT_SLOT_SOURCE;
    r.text = *footer ? arena_sprintf(&t->chat->scratch, "%s\n\n_%s_", markdown, footer) : markdown;
    r.plain = "";
    r.last = true;
    r.summary = summary.p;
    return chat_send(t->chat, t->turn, &r, NULL);
}

/* ---- at the end of a native stream ---- */

/* Returns the maximum number of messages after the stream; a file replaces all of them. */
static size_t chat_outcome_max_parts_after_stream(const struct chat *c)
{
    return c->options.overflow == CHAT_OVERFLOW_FILE ? 0 : c->options.max_parts - 1;
}

/* Sends the rest of an answer that does not fit into the stream: the stream ends without the rest,
 * and messages with the rest follow. */
static bool send_tail(struct chat_turn *t, const char *shown, const char *rest, const char *footer)
{
    struct chat *const c = t->chat;
    struct chat_record r = part_record(t, 0);
    const size_t most = chat_outcome_max_parts_after_stream(c);
    size_t count = 0;
    const struct text_piece *pieces = render_outcome(c, rest, strlen(rest), 0, &count);
    const struct text_piece *const whole =
        pieces ? add_footer(c, rest, footer, 0, most, &count) : NULL;
    pieces = whole ? whole : pieces;
    r.text = shown;
    if (!pieces || count > most || !*shown || !chat_native_end_with(t, &r, ""))
        return false;
    for (size_t i = 0; i < count; i++)
        send_piece(t, &pieces[i], i + 1, false, &(struct chat_outcome_way){.tail = true});
    return true;
}

/* If the stream shows the beginning of the answer, the end of the stream, with the rest of the
 * answer, is the outcome. */
static bool end_stream(struct chat_turn *t, const char *markdown, size_t len)
{
    struct chat *const c = t->chat;
    struct chat_record r = part_record(t, 0);
    const char *const rest = len <= STREAMED_MAX ? chat_native_unsent_answer(t, markdown) : NULL;
    if (!rest)
        return false;
    const char *const footer = footer_of(t), *const end = *footer ? "_" : "";
    const char *const before = *footer ? "\n\n_" : "";
    r.text = arena_sprintf(&c->scratch, "%s%s%s%s", markdown, before, footer, end);
    if (chat_native_end_with(t, &r,
                             arena_sprintf(&c->scratch, "%s%s%s%s", rest, before, footer, end)))
        return true;
    const char *const shown = arena_strndup(&c->scratch, markdown, (size_t)(rest - markdown));
    return send_tail(t, shown, rest, footer);
}

/* Returns the answer without the text that ended streams still show; NULL: they show none of it. */
static const char *chat_outcome_unshown_answer(struct chat_turn *t, const char *markdown)
{
    const char *const rest = chat_native_whole_unshown_answer(t, markdown);
    return !rest || *rest ? rest : texts_get(TEXT_CHAT_DONE);
}

/* Sends the text of the record as ordinary messages. The stream is ended, too, unless the result
 * says that it is not open. */
static void send_instead_of_stream(struct chat_turn *t, const struct chat_record *r,
                                   enum tc_result_kind kind)
{
    const bool over = kind == TC_RESULT_STREAM_OVER || kind == TC_RESULT_STOPPED;
    const char *const rest = over ? chat_outcome_unshown_answer(t, r->text) : NULL;
    const char *const text = rest ? rest : r->text;
    send_parts(t, text, strlen(text),
               (struct chat_outcome_way){.marked = r->tried.marked, .ended = true});
    if (kind != TC_RESULT_DONE && kind != TC_RESULT_MESSAGE_GONE && !over)
        chat_native_end_empty(t, &r->target, r->message);
}

/* ---- the outcome ---- */

int chat_outcome_send(struct chat_turn *t, const char *markdown, size_t len, uint32_t flags)
{
    const struct chat *const c = t->chat;
    if (!t->target.chat)
        return 0;
    if (!flags && len && end_stream(t, markdown, len))
        return 0;
    const char *const rest = !flags && len ? chat_outcome_unshown_answer(t, markdown) : NULL;
    if (rest)
        return send_parts(t, rest, strlen(rest), (struct chat_outcome_way){0});
    if (c->source && !flags && len && len <= c->table.source_bytes)
        return send_source(t, markdown);
    return send_parts(t, markdown, len, (struct chat_outcome_way){.flags = flags});
}

int chat_outcome_send_error(struct chat_turn *t, const char *text, size_t len, json_t *button)
{
    const struct chat_outcome_way way = {.flags = TC_VERBATIM, .button = button};
    return t->target.chat ? send_parts(t, text, len, way) : 0;
}

/* Replaces a message of Markdown that the service has refused by ordinary messages. */
static bool send_instead_of_source(struct chat_turn *t, const struct chat_record *r,
                                   enum tc_result_kind kind)
{
    const bool refused = kind == TC_RESULT_BAD_FORMAT || kind == TC_RESULT_TOO_LONG ||
                         kind == TC_RESULT_EMPTY || kind == TC_RESULT_UNSUPPORTED ||
                         kind == TC_RESULT_REFUSED;
    if (!refused || !r->text || strcmp(r->slot, CHAT_SLOT_SOURCE) != 0)
        return false;
    if (kind == TC_RESULT_UNSUPPORTED)
        t->chat->source = false;
    send_parts(t, r->text, strlen(r->text),
               (struct chat_outcome_way){.marked = r->tried.marked, .ended = true});
    return true;
}

/* Replaces a file by the other parts of the answer, because this app may not send files. */
static bool send_instead_of_file(struct chat_turn *t, const struct chat_record *r,
                                 const struct tc_result *result, const struct tc_reply *reply)
{
    if (result->kind != TC_RESULT_UNSUPPORTED || r->op != TC_OP_FILE || r->part != 1 ||
        strcmp(r->slot, CHAT_SLOT_ANSWER) != 0)
        return false;
    const struct chat_send_extra content = chat_content_of(reply->http);
    const char *const markdown = arena_strndup(&t->chat->scratch, content.data, content.len);
    t->chat->unsupported |= TC_CAN(TC_OP_FILE);
    tc_log(t->chat->inst, TC_WARN, "cannot send files: %s; long answers are split instead",
           result->reason);
    return send_parts(t, markdown, content.len,
                      (struct chat_outcome_way){.done = 1, .generation = r->generation + 1}) == 0;
}

/* ---- a smaller message, in place of one that was too long ---- */

/* Sends the text in two or more parts, because the service found it too long. */
static void chat_outcome_send_divided(struct chat *c, struct tc_turn *turn, struct chat_record *r)
{
    const char *const plain = r->plain ? r->plain : "";
    size_t count;
    const struct text_piece *const pieces =
        chat_text_render(&c->scratch, &c->table, r->role, plain, strlen(plain),
                         &(struct chat_text_options){.flags = TC_VERBATIM, .divide_by = 2}, &count);
    const char *const slot = r->slot;
    const bool last = r->last;
    for (size_t i = 0; i < count; i++) {
        r->slot = arena_sprintf(&c->scratch, "%s:%zu", slot, i); /* each part has its own key */
        r->text = pieces[i].text;
        r->entities = pieces[i].entities;
        r->plain = pieces[i].plain;
        r->last = last && i + 1 == count;
        chat_send(c, turn, r, NULL);
        r->silent = true;
    }
}

/* ---- clean-up ---- */

/* The number of tokens may be reported after the answer. */
static void write_summary(struct buf *out, const struct chat_turn *t,
                          const struct chat_record *part)
{
    buf_add_str(out, part->summary ? part->summary : texts_get(TEXT_CHAT_DONE));
    if (!t->told_tokens)
        chat_view_write_tokens(out, &t->view);
}

static void chat_outcome_clean_progress_message(struct chat_turn *t, const struct chat_record *part,
                                                const char *message)
{
    struct chat *const c = t->chat;
    struct chat_record r = {.op = TC_OP_EDIT,
                            .role = TC_ROLE_LIVE,
                            .slot = CHAT_SLOT_CLEAN,
                            .target = part->target,
                            .message = message,
                            .silent = true};
    if (c->options.after == CHAT_AFTER_DELETE && chat_can(c, TC_OP_DELETE))
        r.op = TC_OP_DELETE;
    else if (!chat_can(c, TC_OP_EDIT))
        return;
    CLEANUP_BUF struct buf view = {0};
    struct tc_tool_line lines[CHAT_VIEW_LINES];
    const struct tc_view now =
        chat_view_export(&t->view, clock_mono_ms(), c->options.thinking, lines);
    if (c->options.after == CHAT_AFTER_KEEP && t->live.began)
        chat_view_write(&view, &now);
    else
        write_summary(&view, t, part);
    chat_render_one(c, &r, view.p, 0);
    r.beside.edits = r.op == TC_OP_EDIT && chat_live_late_ms(t) > 0;
    chat_send(c, t->turn, &r, NULL);
    chat_live_mark_used(t);
}

/* Asks the service for the id of a progress message that may exist: the service recognises the key
 * of the message, or searches for it. A service that recognises keys creates the message now, after
 * the outcome, if it does not exist; therefore its text is the text of the clean-up. */
static void chat_outcome_request_live_id(struct chat_turn *t, const struct chat_record *part)
{
    struct chat *const c = t->chat;
    const bool search = c->table.idempotency == TC_IDEMPOTENCY_LOOKUP;
    struct chat_record r = {.op = search ? TC_OP_LOOKUP : TC_OP_POST,
                            .role = TC_ROLE_LIVE,
                            .slot = CHAT_SLOT_LIVE,
                            .target = part->target,
                            .generation = t->live.creates,
                            .summary = part->summary,
                            .last = true,
                            .silent = true};
    if (!chat_live_can_search(t) ||
        !chat_render_one(c, &r, part->summary ? part->summary : texts_get(TEXT_CHAT_DONE), 0))
        return;
    chat_send(c, t->turn, &r, &(struct chat_send_extra){.delay_ms = search ? CHAT_LATE_MS : 0});
}

static void chat_outcome_clean_up(struct chat_turn *t, const struct chat_record *part)
{
    const char *const message = chat_live_message_id(t) ? chat_live_message_id(t)
                                : t->live.began         ? NULL
                                                        : part->live;
    if (t->live.used)
        return;
    if (message)
        chat_outcome_clean_progress_message(t, part, message);
    else if (t->live.uncertain)
        chat_outcome_request_live_id(t, part);
}

/* ---- results ---- */

/* Returns the delay until no edit whose reply was lost can be executed any more. Without such an
 * edit in this process, it was sent by an earlier process. */
static int64_t chat_outcome_confirm_delay_ms(const struct chat_turn *t)
{
    const int64_t late_ms = chat_live_late_ms(t);
    return late_ms ? late_ms : t->live.doubt_ms ? 1 : CHAT_LATE_MS;
}

/* Sends the edit with the outcome once more. A live edit whose reply was lost may be executed later
 * and would replace the outcome permanently; the repeat is sent when that is no longer possible. */
static void chat_outcome_repeat_edit(struct chat_turn *t, const struct chat_record *done)
{
    struct chat_record r = *done;
    if (!done->beside.edits && !chat_live_late_ms(t))
        return;
    r.slot = arena_sprintf(&t->chat->scratch, CHAT_SLOT_CONFIRM ":%s", done->slot);
    r.beside.edits = r.last = false;
    r.owner = NULL;
    chat_send(t->chat, t->turn, &r,
              &(struct chat_send_extra){.delay_ms = chat_outcome_confirm_delay_ms(t)});
}

static void chat_outcome_handle_delivered(struct chat_turn *t, struct chat_record *r,
                                          enum chat_delivery_state how)
{
    if (how == CHAT_EDITING) {
        chat_live_mark_used(t);
        chat_outcome_repeat_edit(t, r);
    }
    if (r->last)
        chat_outcome_clean_up(t, r);
}

/* Reports in the chat, once per turn, that the answer is lost. The request is not durable: a
 * durable request would replace the request of the answer, which would then not become a dead
 * letter. The dead letter is on disk before this request is sent; the host finds it by turn and
 * chat. */
static void chat_outcome_report_loss(struct chat_turn *t, const char *reason,
                                     enum tc_result_kind kind)
{
    if (t->told_loss || !t->target.chat || kind == TC_RESULT_CHAT_GONE ||
        kind == TC_RESULT_UNAUTHORIZED)
        return;
    t->told_loss = true;
    CLEANUP_BUF struct buf text = {0};
    const char *const why = reason ? reason : texts_get(TEXT_CHAT_NO_REASON);
    json_t *const button = chat_turn_button(t, CHAT_PRESS_RESEND, TEXT_CHAT_RESEND_BUTTON);
    struct chat_record r = {.op = TC_OP_POST,
                            .role = TC_ROLE_REPLY,
                            .slot = CHAT_SLOT_LOSS,
                            .target = t->target,
                            .buttons = button,
                            .until_ms = chat_unix_ms() + DAY_MS};
    texts_append(&text, button ? TEXT_CHAT_LOST_KEPT : TEXT_CHAT_LOST,
                 TEXT_VALUES(TEXT_STR("why", why)));
    if (chat_render_one(t->chat, &r, text.p, TC_VERBATIM))
        chat_send(t->chat, t->turn, &r, NULL);
    json_decref(button);
}

/* Returns the content of a file: the content of the previous request, or the text of a message that
 * becomes a file. */
static struct chat_send_extra chat_outcome_file_content(const struct chat_record *r,
                                                        const struct tc_reply *reply, bool was_file)
{
    const char *const text = r->plain ? r->plain : "";
    if (!r->file.name)
        return (struct chat_send_extra){0};
    return was_file ? chat_content_of(reply->http)
                    : (struct chat_send_extra){.data = text, .len = strlen(text)};
}

void chat_outcome_handle_result(struct chat_turn *t, struct chat_record *r,
                                const struct chat_result *result, const struct tc_reply *reply,
                                struct tc_verdict *v)
{
    struct chat *const c = t->chat;
    struct chat_delivery_policy policy = chat_outcome_make_policy(c);
    const enum chat_delivery_state from = r->state;
    const bool was_file = r->file.name != NULL;
    policy.shown = chat_native_shown_part(t);
    v->next = TC_NEXT_DONE;
    if (send_instead_of_source(t, r, result->result.kind) ||
        send_instead_of_file(t, r, &result->result, reply))
        return;
    if (reply->outcome == TC_AMBIGUOUS && reply->attempts == 0)
        chat_delivery_renew(r, &policy, chat_unix_ms() + DAY_MS);
    const struct chat_delivery_decision d = chat_delivery_next(r, result, &policy);
    if (from == CHAT_EDITING && result->result.kind == TC_RESULT_MESSAGE_GONE)
        chat_live_mark_used(t);
    struct chat_send_extra extra = chat_outcome_file_content(r, reply, was_file);
    extra.delay_ms = d.delay_ms;
    switch (d.step) {
    case CHAT_STEP_DONE:
        if (chat_record_is_slot(r, CHAT_SLOT_CARD))
            chat_cards_handle_delivery(t, r, result->result.message);
        else
            chat_outcome_handle_delivered(t, r, from);
        break;
    case CHAT_STEP_AGAIN:
        v->next = TC_NEXT_AGAIN;
        break;
    case CHAT_STEP_SEND:
        chat_send(c, t->turn, r, &extra);
        break;
    case CHAT_STEP_CUT:
        chat_outcome_send_divided(c, t->turn, r);
        break;
    case CHAT_STEP_WHOLE:
        send_instead_of_stream(t, r,
                               from == CHAT_PROBING ? TC_RESULT_IN_DOUBT : result->result.kind);
        break;
    case CHAT_STEP_DEAD:
        v->next = TC_NEXT_FAIL;
        v->reason = d.reason;
        chat_outcome_report_loss(t, d.reason, result->result.kind);
        break;
    }
}

void chat_outcome_handle_drop(struct chat_turn *t, const struct chat_record *r,
                              const struct tc_reply *reply)
{
    (void)r;
    chat_outcome_report_loss(t, reply->error, TC_RESULT_REFUSED);
}

/* A progress message that does not exist needs no clean-up. */
void chat_outcome_handle_clean_result(struct chat_turn *t, struct chat_record *r,
                                      const struct chat_result *result, struct tc_verdict *v)
{
    const enum tc_result_kind kind = result->result.kind;
    if (kind == TC_RESULT_IN_DOUBT || kind == TC_RESULT_RETRY || kind == TC_RESULT_UNAUTHORIZED) {
        v->next = TC_NEXT_AGAIN;
        return;
    }
    v->next = TC_NEXT_DONE;
    if (kind == TC_RESULT_DONE && chat_record_is_slot(r, CHAT_SLOT_LIVE) && result->result.message)
        chat_outcome_clean_progress_message(t, r, result->result.message);
    else if (kind == TC_RESULT_DONE && r->op == TC_OP_EDIT &&
             chat_record_is_slot(r, CHAT_SLOT_CLEAN))
        chat_outcome_repeat_edit(t, r);
}
