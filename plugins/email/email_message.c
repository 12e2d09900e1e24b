/* SPDX-License-Identifier: MIT
 * E-mails of Markdown: the text as it is read and as HTML. The host composes the message of them.
 */
#include <string.h>

#include "email.h"

#define SUBJECT_MAX ((size_t)160)       /* bytes */
#define SECTION_MAX ((size_t)256 << 10) /* bytes of one section */
#define PARTS 8

/* ---- bodies ---- */

/* Without limits there is one piece, or none. */
static const char *render(struct tc_turn *turn, const char *text, enum tc_form form, uint32_t flags)
{
    size_t n = 0;
    const size_t len = strlen(tc_cut(turn, text, SECTION_MAX));
    const struct tc_piece *const piece =
        tc_pieces(turn, TC_TEXT(.markdown = text, .len = len, .form = form, .flags = flags), &n);
    return tc_sprint(turn, "%.*s%s%s", piece ? (int)piece->len : 0, piece ? piece->text : "",
                     piece ? "\n" : "", text[len] ? "[…]\n" : "");
}

void email_message_add(struct tc_turn *turn, struct email_message *m, const char *heading,
                       const char *markdown)
{
    const char *const text = m->text ? m->text : "", *const html = m->html ? m->html : "";
    m->text = tc_sprint(turn, "%s%s%s%s\n", text, heading ? heading : "", heading ? "\n\n" : "",
                        render(turn, markdown, TC_PLAIN, 0));
    m->html = tc_sprint(turn, "%s%s%s%s%s", html, heading ? "<div style=\"font-weight:bold\">" : "",
                        heading ? render(turn, heading, TC_HTML, TC_VERBATIM) : "",
                        heading ? "</div>\n" : "", render(turn, markdown, TC_HTML, 0));
}

/* ---- sending ---- */

static int send_parts(struct tc_turn *turn, const struct tc_part parts[PARTS],
                      const struct tc_http *as)
{
    const struct email *const s = turn->inst->state;
    return tc_http(turn,
                   TC_HTTP(.url = "{option:server}", .headers = s->envelope,
                           .header_count = s->envelope_count, .parts = parts, .part_count = PARTS,
                           .lane = as->lane, .priority = as->priority,
                           .flags = as->flags & TC_DURABLE, .timeout_ms = 60000, .tag = as->tag));
}

/* A part without a name is not sent. */
int email_message_send(struct tc_turn *turn, const struct email_message *m, const char *lane,
                       uint32_t flags, enum tc_priority priority)
{
    const struct email_conf *const conf = turn->inst->conf;
    const char *const thread = m->thread ? tc_sprint(turn, "conversation %s", m->thread) : "";
    const struct tc_part parts[PARTS] = {
        {.name = "Date", .data = tc_sprint(turn, "%.0f", m->date)},
        {.name = "From", .data = conf->name},
        {.name = "Subject", .data = tc_cut(turn, m->subject, SUBJECT_MAX)},
        {.name = "Message-ID", .data = m->id},
        {.name = m->thread ? "In-Reply-To" : NULL, .data = thread},
        {.name = m->thread ? "References" : NULL, .data = thread},
        {.name = "text", .type = "text/plain", .data = m->text},
        {.name = conf->html ? "html" : NULL,
         .type = "text/html",
         .data = conf->html ? m->html : ""}};
    return send_parts(turn, parts, TC_HTTP(.lane = lane, .flags = flags, .priority = priority));
}

int email_message_repeat(struct tc_turn *turn, const struct tc_reply *reply)
{
    const char *const mark = tc_say(turn, "(sent again)", NULL);
    struct tc_http as = *reply->http;
    struct tc_part parts[PARTS];
    as.tag = EMAIL_MARKED;
    for (size_t i = 0; i < PARTS; i++) {
        parts[i] = as.parts[i];
        if (parts[i].name && strcmp(parts[i].name, "Subject") == 0)
            parts[i] = (struct tc_part){.name = "Subject",
                                        .data = tc_sprint(turn, "%s %s", mark, parts[i].data)};
    }
    return send_parts(turn, parts, &as);
}
