/* SPDX-License-Identifier: MIT
 * The bodies of messages: Markdown as blocks, with the same as text where blocks are not taken. */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "fault.h"
#include "message.h"
#include "text.h"

const struct tc_piece *message_pieces(struct tc_turn *turn, const char *markdown, uint32_t flags,
                                      size_t *count)
{
    return tc_pieces(turn,
                     TC_TEXT(.markdown = markdown, .len = strlen(markdown), .form = TC_MARKDOWN,
                             .flags = flags, .units = MESSAGE_UNITS),
                     count);
}

/* Copies the character at `p`, or the one that an escape there stands for; returns its end. */
static const char *unescape(const char *p, char **to)
{
    static const struct {
        const char *escape;
        char is;
    } rows[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strncmp(p, rows[i].escape, strlen(rows[i].escape)) == 0) {
            *(*to)++ = rows[i].is;
            return p + strlen(rows[i].escape);
        }
    *(*to)++ = *p;
    return p + 1;
}

/* Where code ends that begins behind a run of `n` backticks: at the next run of as many. NULL: it
 * is no code. */
static const char *code_end(const char *p, size_t n)
{
    while ((p = strchr(p, '`'))) {
        const size_t run = strspn(p, "`");
        if (run == n)
            return p;
        p += run;
    }
    return NULL;
}

/* The Markdown of a block, whose code is escaped for Slack, as Markdown that means the same. Other
 * text needs nothing: there an escape is Markdown too. NULL: no memory; to be
 * freed. */
static char *unescape_code(const char *p)
{
    char *const out = malloc(strlen(p) + 1), *to = out;
    while (out && *p) {
        const size_t run = strspn(p, "`");
        const char *const end = run ? code_end(p + run, run) : NULL;
        size_t plain = run ? run : 1;
        if (*p == '\\' && p[1])
            plain = 2;
        memcpy(to, p, plain);
        to += plain;
        for (p += plain; end && p < end;)
            p = unescape(p, &to);
        if (end) {
            memcpy(to, end, run);
            to += run;
            p = end + run;
        }
    }
    if (out)
        *to = '\0';
    return out;
}

json_t *message_text(struct tc_turn *turn, const json_t *block)
{
    const char *block_text = json_string_value(json_object_get(block, "text"));
    char *text = unescape_code(block_text ? block_text : "");
    json_t *json = json_string(text ? text_mrkdwn(turn, text, strlen(text), 0, 0) : "");
    free(text);
    return json;
}

json_t *message_body(struct tc_turn *turn, const struct route *r, const struct tc_piece *piece)
{
    json_t *block = json_pack("{s:s, s:s%}", "type", "markdown", "text", piece->text, piece->len);
    json_t *body =
        json_pack("{s:s, s:o, s:[o], s:b, s:b}", "channel", r->channel, "text",
                  message_text(turn, block), "blocks", block, "unfurl_links", 0, "unfurl_media", 0);
    if (r->thread)
        json_object_set_new(body, "thread_ts", json_string(r->thread));
    return body;
}

json_t *message_mark(const struct tc_turn *turn, int part)
{
    return json_pack("{s:s, s:{s:s, s:i}}", "event_type", "turncast_turn", "event_payload", "turn",
                     turn->id, "part", part);
}

void message_tell(struct tc_turn *lobby, const struct route *r, const char *markdown)
{
    size_t count = 0;
    const struct tc_piece *pieces = message_pieces(lobby, markdown, 0, &count);
    const struct slack_call how = {
        .tag = "told", .lane = r->lane, .priority = TC_P_FINAL, .max_age_ms = 10 * 60 * 1000};
    for (size_t i = 0; pieces && i < count; i++)
        call_json(lobby, POST_MESSAGE, message_body(lobby, r, &pieces[i]), &how);
}

int message_on_told(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v)
{
    FAULT_CLEANUP struct fault f = fault_read(lobby, r);
    fault_judge(lobby, &f, r, false, v);
    return 0;
}
