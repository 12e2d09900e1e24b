/* SPDX-License-Identifier: MIT
 * Reads one stream line by line: repairs what it can, and reports the rest. */
#include "turn/translator.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/invariant.h"
#include "base/plural.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"

/* Lines have a limit; the same limit applies to frames joined from them. */
#define IPC_MAX ((size_t)64 << 20)
/* Limit of notices about single lines; the end of the stream gets a summary. */
#define NOISY_MAX 8
#define NOISE_SHOWN 200 /* bytes of an invalid line that are shown */

static void translator_emit(struct translator *t, struct event *ev)
{
    t->emit(t->ctx, ev);
}

static void translator_emit_warning(struct translator *t, const char *code, const char *text,
                                    const char *detail)
{
    struct event ev;
    event_init_notice(&ev, "warn", code, text);
    ev.u.notice.detail = detail;
    translator_emit(t, &ev);
}

/* Details of lines before the first event, NUL-terminated. */
static void translator_release_early(struct translator *t)
{
    t->spoken = true;
    for (size_t at = 0; at < t->early.len; at += strlen(t->early.p + at) + 1)
        translator_emit_warning(t, "unparsable_line",
                                "ignored a malformed line in the agent's output", t->early.p + at);
    buf_fini(&t->early);
}

/* The first event of a stream must be the dialect's, as it may be the start of the turn. */
static void forward(void *ctx, struct event *ev)
{
    struct translator *const t = ctx;
    translator_emit(t, ev);
    if (!t->spoken)
        translator_release_early(t);
}

static void open_dialect(struct translator *t, const struct dialect *dialect)
{
    t->dialect = dialect;
    t->state = xcalloc(1, dialect->state_size ? dialect->state_size : 1);
}

static void translator_on_sse_frame(void *ctx, const struct sse_event *frame);

static void drop_frame(void *ctx, uint64_t bytes)
{
    translator_skip_line(ctx, bytes);
}

void translator_init(struct translator *t, const struct dialect *dialect,
                     void (*emit)(void *ctx, struct event *ev), void *ctx)
{
    *t = (struct translator){.emit = emit, .ctx = ctx};
    t->out = (struct dialect_sink){.emit = forward, .ctx = t, .scratch = &t->scratch};
    t->sse = (struct sse_parser){
        .frame = translator_on_sse_frame, .dropped = drop_frame, .ctx = t, .cap = IPC_MAX};
    if (dialect)
        open_dialect(t, dialect);
}

void translator_fini(struct translator *t)
{
    if (t->dialect && t->dialect->close)
        t->dialect->close(t->state);
    free(t->state);
    arena_fini(&t->scratch);
    buf_fini(&t->mended);
    buf_fini(&t->early);
    dialect_sniff_fini(&t->sniff);
    sse_fini(&t->sse);
}

/* A dialect without support for whole streams reads the next turn in a fresh state. */
static void renew(struct translator *t, bool by_agent)
{
    ASSERT(t->dialect);
    const struct dialect *const d = t->dialect;
    t->spoken = t->last_bad = t->cut_off = false;
    t->noisy = 0;
    if (d->next) {
        d->next(t->state, by_agent);
        return;
    }
    if (d->close)
        d->close(t->state);
    free(t->state);
    open_dialect(t, d);
}

void translator_next(struct translator *t, bool by_agent)
{
    t->ending = false;
    renew(t, by_agent);
}

bool translator_between(struct translator *t, const char *line, size_t len)
{
    ASSERT(t->dialect);
    arena_reset(&t->scratch);
    return t->dialect->between && t->dialect->between(t->state, &t->out, line, len);
}

/* The visible part of a line that is not JSON: printable, on one line. */
static const char *translator_show(struct translator *t, const char *line, size_t len)
{
    CLEANUP_BUF struct buf text = {0}, shown = {0};
    utf8_repair(&text, line, len < NOISE_SHOWN ? len : NOISE_SHOWN);
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char byte = (unsigned char)text.p[i];
        if (byte < 0x20 || byte == 0x7f)
            buf_printf(&shown, "\\x%02x", byte);
        else
            buf_add_char(&shown, (char)byte);
    }
    return arena_strndup(&t->scratch, shown.p ? shown.p : "", shown.len);
}

static void translator_report_unparsable(struct translator *t, const char *line, size_t len)
{
    t->stats.unparsable++;
    if (t->noisy++ >= NOISY_MAX)
        return;
    const char *const detail = translator_show(t, line, len);
    if (t->spoken)
        translator_emit_warning(t, "unparsable_line",
                                "ignored a malformed line in the agent's output", detail);
    else
        buf_add(&t->early, detail, strlen(detail) + 1);
}

/* Emits pending events of the ending turn. */
static void translator_end_turn(struct translator *t, const struct stream_end_info *end)
{
    ASSERT(t->dialect);
    arena_reset(&t->scratch);
    if (t->dialect->end)
        t->dialect->end(t->state, &t->out, end);
    if (!t->spoken)
        translator_release_early(t);
    if (t->noisy > NOISY_MAX)
        translator_emit_warning(t, "unparsable_line",
                                arena_sprintf(&t->scratch, "%" PRIu64 " more line%s not valid",
                                              t->noisy - NOISY_MAX,
                                              PLURAL(t->noisy - NOISY_MAX, " was", "s were")),
                                NULL);
    t->noisy = 0;
}

void translator_split(struct translator *t, void (*split)(void *ctx))
{
    t->split = split;
}

static enum dialect_begin what_begins(const struct translator *t, const char *p, size_t len)
{
    const struct dialect *const d = t->dialect;
    const enum dialect_begin begin =
        t->split && d->begins ? d->begins(t->state, (struct str){p, len}) : DIALECT_GOES_ON;
    return begin != DIALECT_GOES_ON && value_parse_line(p, len, NULL, 0) < 0 ? DIALECT_GOES_ON
                                                                             : begin;
}

static int translator_read_text(struct translator *t, const char *p, size_t len)
{
    static const struct stream_end_info end = {.how = STREAM_EOF};
    const enum dialect_begin begin = what_begins(t, p, len);
    if (begin != DIALECT_GOES_ON) {
        translator_end_turn(t, &end);
        t->split(t->ctx);
        renew(t, begin == DIALECT_AGENTS_TURN);
    }
    return t->dialect->line(t->state, &t->out, p, len);
}

static int read_mended(struct translator *t, const char *line, size_t len)
{
    buf_reset(&t->mended);
    if (json_reader_repair(&t->mended, line, len) == 0)
        return -1;
    if (translator_read_text(t, t->mended.p, t->mended.len) < 0)
        return -1;
    t->stats.repaired++;
    return 0;
}

/* Processes one message: a line, or the data of a frame. */
static void translator_read_message(struct translator *t, const char *p, size_t len, bool complete)
{
    arena_reset(&t->scratch);
    t->stats.lines++;
    t->last_bad = translator_read_text(t, p, len) < 0 && read_mended(t, p, len) < 0;
    t->cut_off = t->last_bad && !complete;
    if (t->last_bad && complete)
        translator_report_unparsable(t, p, len);
}

static void read_held(void *ctx, const char *line, size_t len, const char *event)
{
    struct translator *const t = ctx;
    t->out.frame_event = event;
    translator_read_message(t, line, len, true);
}

/* The dialect is now known: processes the lines that were kept for it. */
static void translator_settle_dialect(struct translator *t, const struct dialect *dialect)
{
    ASSERT(!t->dialect);
    t->unmatched = !t->sniff.best;
    open_dialect(t, dialect);
    dialect_sniff_replay(&t->sniff, read_held, t);
    dialect_sniff_fini(&t->sniff);
}

static void translator_handle_message(struct translator *t, const char *p, size_t len,
                                      const char *event, bool complete)
{
    if (!t->dialect && complete) {
        const struct dialect *const found = dialect_sniff_feed(&t->sniff, p, len, event);
        if (found)
            translator_settle_dialect(t, found);
        return;
    }
    if (!t->dialect) {
        dialect_sniff_score(&t->sniff, p, len, event);
        translator_settle_dialect(t, dialect_sniff_guess(&t->sniff));
    }
    t->out.frame_event = event;
    translator_read_message(t, p, len, complete);
}

/* Chat-completion streams end with a frame that is not JSON. */
static void translator_on_sse_frame(void *ctx, const struct sse_event *frame)
{
    struct translator *const t = ctx;
    if (strcmp(frame->data, "[DONE]") != 0)
        translator_handle_message(t, frame->data, frame->len, frame->event, !t->ending);
}

void translator_feed_line(struct translator *t, const char *line, size_t len, bool complete)
{
    const bool blank = str_is_blank((struct str){line, len});
    if (t->framing == TRANSLATE_UNKNOWN && !blank)
        t->framing = sse_is_first_line(line, len) ? TRANSLATE_FRAMES : TRANSLATE_LINES;
    if (t->framing == TRANSLATE_FRAMES)
        sse_feed_line(&t->sse, line, len);
    else if (!blank)
        translator_handle_message(t, line, len, NULL, complete);
}

void translator_skip_line(struct translator *t, uint64_t bytes)
{
    arena_reset(&t->scratch);
    t->stats.dropped++;
    const char *const text =
        arena_sprintf(&t->scratch, "a line of %" PRIu64 " bytes was too long and left out", bytes);
    translator_emit_warning(t, "line_dropped", text, NULL);
}

void translator_end(struct translator *t, struct stream_end_info *end)
{
    t->ending = true;
    if (t->framing == TRANSLATE_FRAMES)
        sse_flush(&t->sse);
    if (!t->dialect)
        translator_settle_dialect(t, dialect_sniff_guess(&t->sniff));
    end->truncated |= t->cut_off && !translator_is_unmatched(t); /* a stream without frames cannot
                                                                  * be cut off within one */
    translator_end_turn(t, end);
}

enum dialect_work translator_work(const struct translator *t)
{
    return t->dialect && t->dialect->work ? t->dialect->work(t->state) : DIALECT_NO_WORK;
}

void translator_settle(struct translator *t)
{
    if (!t->dialect || !t->dialect->settle)
        return;
    arena_reset(&t->scratch);
    t->dialect->settle(t->state, &t->out);
}

bool translator_is_unmatched(const struct translator *t)
{
    return t->dialect ? t->unmatched : !t->sniff.best;
}
