/* SPDX-License-Identifier: MIT
 * Tests of event/event.h and event/kinds.h: blank drafts, the field tables, the box. */
#include "event/event.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#include "base/align.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/chunk_pool.h"
#include "event/specimen.h"
#include "tap/tap.h"

static void test_kinds(void)
{
    bool names = true, found = true;
    for (int k = 0; k < TC_KINDS; k++) {
        const char *const name = kind_name((enum tc_kind)k);
        names = names && name && *name;
        found = found && kind_from_name(name, strlen(name)) == k;
    }
    ok(names, "every kind has a name");
    ok(found, "kind_find finds every name");
    is_int(kind_from_name("narrations", 10), -1, "kind_find refuses a longer name");
    is_int(kind_from_name("narratio", 8), -1, "kind_find refuses a prefix");
    is_int(kind_from_name("", 0), -1, "kind_find refuses an empty name");
    is_int(kind_visibility(TC_PROGRESS), VISIBILITY_PROGRESS, "kind_gate");
    is_int(kind_overflow(TC_TOOL_RESULT), OVERFLOW_TRUNCATE, "kind_pressure");
}

static void test_blank_drafts(void)
{
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    is_str(ev.u.tool_call.name, "", "a required string is empty by default");
    is_str(ev.u.tool_call.args, "{}", "required arguments are an empty object by default");
    is_int((long long)ev.u.tool_call.args_len, 2, "required arguments have two bytes");
    is_int(ev.u.tool_call.read_only, -1, "a visibility switch that is not set is unknown");
    ok(!ev.u.tool_call.args_raw && !ev.u.tool_call.message_id, "optional strings are NULL");
    ok(ev.u.meta == &ev.meta, "the payload points to its meta");
    ok(ev.meta.ts < 0 && !ev.meta.x && !ev.meta.parent_id,
       "an event has no time and no parent by default");
    is_str(ev.meta.session_id, "", "an event has no session by default");

    event_init(&ev, TC_RAW);
    is_str(ev.u.raw.event, "null", "a raw event is NULL by default");
    event_init(&ev, TC_USAGE);
    is_int(ev.u.usage.input_tokens, -1, "missing token counts are not 0");
    is_real(ev.u.usage.cost_usd, -1, "a missing cost is not 0");
    event_init(&ev, TC_MESSAGE);
    is_str(ev.u.message.role, "assistant", "a message has the role assistant by default");

    event_init_notice(&ev, "warn", "retry", "again");
    is_int(ev.kind, TC_NOTICE, "a notice");
    is_str(ev.u.notice.level, "warn", "the notice has its level");
    is_str(ev.u.notice.code, "retry", "the notice has its code");
    is_str(ev.u.notice.text, "again", "the notice has its text");
}

static void cover(bool *bytes, size_t from, size_t n)
{
    memset(bytes + from, true, n);
}

/* Every member of every struct but meta and lengths has a row: rows leave no gap. */
static void test_rows_cover_the_structs(void)
{
    static const size_t sizes[] = {
        sizeof(struct tc_narration),   sizeof(struct tc_thinking),  sizeof(struct tc_message),
        sizeof(struct tc_final),       sizeof(struct tc_tool_call), sizeof(struct tc_progress),
        sizeof(struct tc_tool_result), sizeof(struct tc_request),   sizeof(struct tc_start),
        sizeof(struct tc_step),        sizeof(struct tc_error),     sizeof(struct tc_done),
        sizeof(struct tc_usage),       sizeof(struct tc_notice),    sizeof(struct tc_state),
        sizeof(struct tc_raw),
    };
    static const size_t widths[] = {[FIELD_STR] = sizeof(char *),    [FIELD_JSON] = sizeof(char *),
                                    [FIELD_OBJECT] = sizeof(char *), [FIELD_INT] = sizeof(int64_t),
                                    [FIELD_REAL] = sizeof(double),   [FIELD_FLAG] = sizeof(bool),
                                    [FIELD_TRI] = sizeof(int)};
    for (int k = 0; k < TC_KINDS; k++) {
        bool covered[sizeof(union event_payload)] = {false};
        cover(covered, 0, sizeof(struct tc_meta *));
        for (const struct event_field *f = event_fields((enum tc_kind)k); f->key; f++) {
            cover(covered, f->offset, widths[f->type]);
            if (f->len_offset)
                cover(covered, f->len_offset, sizeof(size_t));
        }
        /* Padding never fills a whole word. */
        bool gap = false;
        for (size_t word = 0; word < sizes[k]; word += 8)
            gap = gap || !memchr(covered + word, true, 8);
        ok(!gap, "%s: rows cover the struct", kind_name((enum tc_kind)k));
    }
}

static void test_box_copies(void)
{
    for (int k = 0; k < TC_KINDS; k++) {
        struct arena a = {0};
        struct event ev, same;
        specimen_fill(&ev, (enum tc_kind)k, &a);
        struct shared_event *const shared = shared_event_new(&ev);
        arena_fini(&a); /* what the draft borrowed is gone */
        specimen_fill(&same, (enum tc_kind)k, &a);
        const struct event *const got = shared_event_get(shared);
        const char *const differs = specimen_differ(got, &same);
        ok(!differs, "%s: the box holds every field%s%s", kind_name((enum tc_kind)k),
           differs ? ", but not " : "", differs ? differs : "");
        ok(got->u.meta == &got->meta, "%s: its payload points to its meta",
           kind_name((enum tc_kind)k));
        shared_event_unref(shared);
        arena_fini(&a);
    }
}

static void test_box_text(void)
{
    struct event ev;
    event_init(&ev, TC_NARRATION);
    ev.u.narration.text = "abcdef";
    ev.u.narration.text_len = 3;
    struct shared_event *shared = shared_event_new(&ev);
    is_str(shared_event_get(shared)->u.narration.text, "abc",
           "text is cut at its length and terminated");
    ok(!shared_event_get(shared)->u.narration.message_id, "a missing string stays NULL");
    ok(shared_event_size(shared) >= sizeof(struct event) + 4, "the size includes the text");
    shared_event_unref(shared_event_ref(shared));
    is_int((long long)shared_event_get(shared)->u.narration.text_len, 3,
           "the shared event exists as long as a reference");
    shared_event_unref(shared);
    shared_event_unref(NULL);

    event_init(&ev, TC_TOOL_CALL);
    ev.u.tool_call.name = NULL;
    ev.u.tool_call.args = NULL;
    ev.meta.src = NULL;
    shared = shared_event_new(&ev);
    is_str(shared_event_get(shared)->u.tool_call.name, "",
           "a required string of a shared event is never NULL");
    is_str(shared_event_get(shared)->u.tool_call.args, "{}",
           "required arguments of a shared event are never NULL");
    is_int((long long)shared_event_get(shared)->u.tool_call.args_len, 2,
           "required arguments have their length");
    shared_event_unref(shared);
}

/* ---- boxes in a row ---- */

static struct shared_event *box_specimen(struct chunk_pool *row, size_t i)
{
    struct arena a = {0};
    struct event ev;
    specimen_fill(&ev, (enum tc_kind)(i % TC_KINDS), &a);
    ev.meta.seq = i;
    struct shared_event *const shared = shared_event_new_in_pool(row, &ev);
    arena_fini(&a);
    return shared;
}

/* The first difference, or NULL. */
static const char *differs_from_specimen(const struct shared_event *shared, size_t i)
{
    struct arena a = {0};
    struct event same;
    specimen_fill(&same, (enum tc_kind)(i % TC_KINDS), &a);
    same.meta.seq = i;
    const char *const differs = specimen_differ(shared_event_get(shared), &same);
    arena_fini(&a);
    return differs;
}

static void test_row_of_boxes(void)
{
    enum { ROW = 100 * TC_KINDS };
    static struct shared_event *row[ROW];
    struct chunk_pool slab = {0};
    for (size_t i = 0; i < ROW; i++)
        row[i] = box_specimen(&slab, i);
    chunk_pool_finish(&slab);
    const char *differs = NULL;
    for (size_t i = 0; i < ROW; i++)
        if (i % 50)
            shared_event_unref(row[i]);
    for (size_t i = 0; i < ROW && !differs; i += 50)
        differs = differs_from_specimen(row[i], i);
    ok(!differs, "a shared event is unchanged after its neighbours are freed: %s",
       differs ? differs : "without differences");
    for (size_t i = 0; i < ROW; i += 50)
        shared_event_unref(row[i]);
}

static void test_row_of_narration(void)
{
    struct event ev;
    event_init(&ev, TC_NARRATION);
    ev.meta.src = "claude";
    ev.u.narration.text = "a few words";
    ev.u.narration.text_len = 11;
    struct chunk_pool slab = {0};
    struct shared_event *row[256];
    const struct pool_chunk *seen = NULL;
    size_t chunks = 0, placed = 0;
    for (size_t i = 0; i < 256; i++) {
        row[i] = shared_event_new_in_pool(&slab, &ev);
        chunks += slab.chunk != seen;
        placed += slab.chunk != NULL;
        seen = slab.chunk;
    }
    if (ASAN_ENABLED)
        ok(placed == 0, "with a sanitizer each event has its own memory");
    else
        ok(placed > 240 && chunks < 40, "%zu of 256 events are in %zu chunks", placed, chunks);
    chunk_pool_finish(&slab);
    for (size_t i = 0; i < 256; i++)
        shared_event_unref(row[i]);
}

#define READERS 3
#define READ 3000

/* Boxes that several threads have a reference of each. */
struct stream {
    struct shared_event *shared_events[READ];
    _Atomic size_t there;
};

static void *read_stream(void *arg)
{
    struct stream *const stream = arg;
    bool whole = true;
    for (size_t i = 0; i < READ; i++) {
        while (stream->there <= i)
            sched_yield();
        const struct event *const ev = shared_event_get(stream->shared_events[i]);
        whole = whole && ev->meta.seq == i && ev->kind == (enum tc_kind)(i % TC_KINDS) &&
                strcmp(ev->meta.src, shared_event_get(stream->shared_events[0])->meta.src) == 0;
        if (i)
            shared_event_unref(stream->shared_events[i]);
    }
    shared_event_unref(stream->shared_events[0]);
    return whole ? arg : NULL;
}

/* It is made in bursts, while it is read and let go. */
static void test_boxes_across_threads(void)
{
    static struct stream stream;
    struct chunk_pool slab = {0};
    pthread_t threads[READERS];
    for (int i = 0; i < READERS; i++)
        if (pthread_create(&threads[i], NULL, read_stream, &stream) != 0)
            bail("no threads");
    for (size_t i = 0; i < READ; i++) {
        stream.shared_events[i] = shared_event_ref_many(box_specimen(&slab, i), READERS - 1);
        stream.there = i + 1;
        if (i % 100 == 99)
            chunk_pool_finish(&slab);
    }
    chunk_pool_finish(&slab);
    bool whole = true;
    for (int i = 0; i < READERS; i++) {
        void *read;
        pthread_join(threads[i], &read);
        whole = whole && read;
    }
    ok(whole, "threads read and release events of a chunk while more are made");
}

/* All ask at once for a line that nobody has made yet. */
struct race {
    struct shared_event *shared;
    pthread_barrier_t start;
};

static void *ask_for_line(void *arg)
{
    struct race *const race = arg;
    pthread_barrier_wait(&race->start);
    const char *const line = shared_event_json_line(race->shared, NULL);
    shared_event_unref(race->shared);
    return (void *)(uintptr_t)line;
}

#define RACERS 4

static bool race_for_line(const struct event *ev)
{
    struct race race = {.shared = shared_event_new(ev)};
    pthread_barrier_init(&race.start, NULL, RACERS);
    pthread_t threads[RACERS];
    for (int i = 0; i < RACERS; i++) {
        shared_event_ref(race.shared);
        if (pthread_create(&threads[i], NULL, ask_for_line, &race) != 0)
            bail("no threads");
    }
    bool same = true;
    for (int i = 0; i < RACERS; i++) {
        void *line;
        pthread_join(threads[i], &line);
        same = same && line == shared_event_json_line(race.shared, NULL);
    }
    pthread_barrier_destroy(&race.start);
    shared_event_unref(race.shared);
    return same;
}

static void test_box_line(void)
{
    struct event ev;
    event_init(&ev, TC_ERROR);
    ev.u.error.message = "no\n";
    ev.meta.ts = 1;
    struct shared_event *const shared = shared_event_new(&ev);
    size_t len;
    const char *const line = shared_event_json_line(shared, &len);
    is_str(line,
           "{\"type\":\"error\",\"payload\":{\"message\":\"no\\n\"},\"ts\":1,"
           "\"correlation_id\":\"\",\"session_id\":\"\",\"seq\":0,\"src\":\"\"}",
           "the canonical line");
    is_int((long long)len, (long long)strlen(line), "the length of the line");
    ok(shared_event_json_line(shared, NULL) == line, "the line is made once");
    shared_event_unref(shared);

    bool same = true;
    for (int i = 0; i < 200 && same; i++)
        same = race_for_line(&ev);
    ok(same, "concurrent threads get the same line");
}

/* ---- a flat box from a process that is not trusted ---- */

/* A flat error event, with zeroed memory behind it. */
struct flat_error {
    _Alignas(ALIGN_WORD) char bytes[4096];
    size_t len;   /* of the flat box */
    size_t texts; /* where its texts begin */
};

static void flatten_error(struct flat_error *flat)
{
    struct event ev;
    event_init(&ev, TC_ERROR);
    ev.u.error.message = "no";
    struct shared_event *const shared = shared_event_new(&ev);
    memset(flat, 0, sizeof *flat);
    flat->len = shared_event_serialized_size(shared, (struct str){0});
    flat->texts = 2 * sizeof(size_t) + offsetof(struct event, u) + sizeof(struct tc_error);
    shared_event_serialize(flat->bytes, shared, (struct str){0});
    shared_event_unref(shared);
}

/* Overwrites the header: the sizes of the texts and of the line. */
static void set_sizes(struct flat_error *flat, size_t text_bytes, size_t line_bytes)
{
    const size_t sizes[] = {text_bytes, line_bytes};
    memcpy(flat->bytes, sizes, sizeof sizes);
}

/* Writes the length field of a line of `bytes` bytes; the NUL at its end is there already. */
static void set_line(struct flat_error *flat, size_t at, size_t bytes)
{
    const size_t len = bytes - sizeof(size_t) - 1;
    memcpy(flat->bytes + at, &len, sizeof len);
}

static bool is_accepted(const struct flat_error *flat)
{
    struct buf place = {0};
    struct shared_event *const shared = shared_event_attach(&place, flat->bytes, flat->len);
    shared_event_unref(shared);
    buf_fini(&place);
    return shared;
}

/* Sizes that overflow, so that their sum is the size of the box, and a valid line where they lead:
 * only the bounds checks are left to refuse them. */
static void test_flat_sizes(void)
{
    struct flat_error flat;
    flatten_error(&flat);
    ok(is_accepted(&flat), "a valid flat event is accepted");

    size_t texts;
    memcpy(&texts, flat.bytes, sizeof texts);
    flat.bytes[flat.texts + texts - 1] = 'x';
    ok(!is_accepted(&flat), "refused: the last text does not end with NUL");

    flatten_error(&flat);
    const size_t before = flat.texts - ALIGN_WORD;
    set_sizes(&flat, (size_t)0 - ALIGN_WORD, flat.len - before);
    set_line(&flat, before, flat.len - before);
    ok(!is_accepted(&flat), "refused: the size of the texts is negative");

    flatten_error(&flat);
    const size_t behind = flat.texts + flat.len;
    set_sizes(&flat, flat.len, flat.len - behind);
    set_line(&flat, behind, flat.len - behind);
    ok(!is_accepted(&flat), "refused: the texts end outside of the event");
}

int main(void)
{
    plan_lazy();
    test_kinds();
    test_blank_drafts();
    test_rows_cover_the_structs();
    test_box_copies();
    test_box_text();
    test_row_of_boxes();
    test_row_of_narration();
    test_boxes_across_threads();
    test_box_line();
    test_flat_sizes();
}
