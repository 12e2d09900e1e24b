/* SPDX-License-Identifier: MIT
 * Tests of event/codec.h: every kind and field there and back, exact lines, what is refused, and
 * jansson's opinion of every line. */
#include "event/codec.h"

#include <jansson.h>
#include <stdlib.h>

#include "event/json/json_reader.h"
#include "event/specimen.h"
#include "tap/tap.h"

/* The line parses, and says what the envelope of ev says. */
static bool jansson_agrees(const struct event *ev, const struct buf *line)
{
    json_error_t error;
    json_t *const root = json_loadb(line->p, line->len, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        diag("jansson: %s: %s", error.text, line->p);
        return false;
    }
    const char *type = "", *src = "", *session = "", *correlation = "";
    json_int_t seq = -1;
    json_t *payload = NULL;
    double ts = -1;
    const int wrong = json_unpack(root, "{s:s, s:o, s:F, s:s, s:s, s:I, s:s !}", "type", &type,
                                  "payload", &payload, "ts", &ts, "correlation_id", &correlation,
                                  "session_id", &session, "seq", &seq, "src", &src);
    bool same = !wrong && strcmp(type, kind_name(ev->kind)) == 0 && json_is_object(payload) &&
                (uint64_t)seq == ev->meta.seq && strcmp(src, ev->meta.src) == 0;
    for (const struct event_field *f = event_fields(ev->kind); same && f->key; f++) {
        const json_t *const got = json_object_get(payload, f->key);
        if (f->type == FIELD_STR && field_get_text(f, &ev->u).p)
            same = json_is_string(got) &&
                   str_equal(field_get_text(f, &ev->u),
                             (struct str){json_string_value(got), json_string_length(got)});
        else if (f->type == FIELD_FLAG || f->type == FIELD_TRI)
            same = !got || json_is_boolean(got);
        else if (f->type == FIELD_INT)
            same = !got || json_is_integer(got);
    }
    json_decref(root);
    return same;
}

static void round_trip(const struct event *ev, const char *what)
{
    CLEANUP_BUF struct buf line = {0};
    struct arena a = {0};
    struct event back;
    const char *why;
    codec_encode(&line, ev);
    const char *const kind = kind_name(ev->kind);
    if (ok(codec_decode(&back, &a, line.p, line.len, &why) == 0, "%s, %s: decodes", kind, what)) {
        const char *const differs = specimen_differ(ev, &back);
        ok(!differs, "%s, %s: comes back the same%s%s", kind, what, differs ? " but " : "",
           differs ? differs : "");
    } else {
        diag("%s in %s", why, line.p);
    }
    ok(jansson_agrees(ev, &line), "%s, %s: jansson reads the same", kind, what);
    arena_fini(&a);
}

static void test_round_trips(void)
{
    struct arena a = {0};
    for (int k = 0; k < TC_KINDS; k++) {
        struct event ev;
        specimen_fill(&ev, (enum tc_kind)k, &a);
        round_trip(&ev, "full");
        specimen_bare(&ev, (enum tc_kind)k);
        round_trip(&ev, "bare");
    }
    arena_fini(&a);
}

#define ENVELOPE                                                                                   \
    ",\"ts\":1784884501.820045,\"correlation_id\":\"c-1\",\"session_id\":\"s-1\",\"seq\":7,"       \
    "\"src\":\"claude\"}"

static void golden(const struct event *ev, const char *payload)
{
    CLEANUP_BUF struct buf line = {0}, wanted = {0}, part = {0};
    codec_encode(&line, ev);
    buf_printf(&wanted, "{\"type\":\"%s\",\"payload\":%s" ENVELOPE, kind_name(ev->kind), payload);
    is_str(line.p, wanted.p, "%s: the exact line", kind_name(ev->kind));
    codec_encode_payload(&part, ev);
    is_str(part.p, payload, "%s: the exact payload", kind_name(ev->kind));
}

/* A draft in which only what the assignments to p and ev name is said. */
#define GOLDEN(lower, UPPER, payload, ...)                                                         \
    do {                                                                                           \
        struct event ev;                                                                           \
        specimen_bare(&ev, TC_##UPPER);                                                            \
        struct tc_##lower *const p = &ev.u.lower;                                                  \
        __VA_ARGS__;                                                                               \
        golden(&ev, payload);                                                                      \
    } while (0)
#define SAY(member, s) (p->member = (s), p->member##_len = strlen(s))

static void test_golden_text(void)
{
    GOLDEN(narration, NARRATION, "{\"text\":\"89% of /srv\\n\",\"message_id\":\"m1\"}",
           SAY(text, "89% of /srv\n"), p->message_id = "m1");
    GOLDEN(thinking, THINKING,
           "{\"text\":\"\",\"message_id\":\"m1\",\"encrypted\":\"AA==\",\"entity_id\":\"e\","
           "\"entity\":\"tool-call\",\"agent\":\"a-1\"}",
           p->message_id = "m1", p->encrypted = "AA==", p->entity_id = "e", p->entity = "tool-call",
           ev.meta.agent = "a-1");
    GOLDEN(message, MESSAGE,
           "{\"role\":\"assistant\",\"message_id\":\"m1\",\"text\":\"hi\",\"reasoning\":\"why\","
           "\"name\":\"n\",\"persisted\":true}",
           p->message_id = "m1", SAY(text, "hi"), SAY(reasoning, "why"), p->name = "n",
           p->persisted = true);
    GOLDEN(message, MESSAGE, "{\"role\":\"assistant\"}", (void)p);
    GOLDEN(final, FINAL, "{\"text\":\"\",\"synthesized\":true}", p->synthesized = true);
    GOLDEN(final, FINAL, "{\"text\":\"done\",\"message_id\":\"m2\"}", SAY(text, "done"),
           p->message_id = "m2");
}

static void test_golden_tools(void)
{
    GOLDEN(tool_call, TOOL_CALL,
           "{\"name\":\"Bash\",\"args\":{\"command\":\"df\"},\"tool_use_id\":\"t1\","
           "\"args_raw\":\"{\\\"command\\\": \\\"df\\\"}\",\"read_only\":false,"
           "\"message_id\":\"m1\",\"parent_id\":\"t0\"}",
           p->name = "Bash", SAY(args, "{\"command\":\"df\"}"), p->tool_use_id = "t1",
           SAY(args_raw, "{\"command\": \"df\"}"), p->read_only = 0, p->message_id = "m1",
           ev.meta.parent_id = "t0");
    GOLDEN(progress, PROGRESS,
           "{\"tool_use_id\":\"t1\",\"name\":\"Bash\",\"phase\":\"running\",\"message\":\"m\","
           "\"percent\":42.5,\"loaded\":1,\"total\":0,\"args_delta\":\"{\",\"arg_chars\":12,"
           "\"output\":\"o\",\"node_id\":\"n\",\"parent_node_id\":\"pn\"}",
           p->tool_use_id = "t1", p->name = "Bash", p->phase = "running", p->message = "m",
           p->percent = 42.5, p->loaded = 1, p->total = 0, SAY(args_delta, "{"), p->arg_chars = 12,
           SAY(output, "o"), p->node_id = "n", p->parent_node_id = "pn");
    GOLDEN(progress, PROGRESS, "{}", (void)p);
    GOLDEN(tool_result, TOOL_RESULT,
           "{\"tool_use_id\":\"t1\",\"content\":\"ok\",\"is_error\":true,\"name\":\"Bash\","
           "\"outcome\":\"failed\",\"duration_ms\":12.25,\"truncated\":true,"
           "\"structured\":[1],\"message_id\":\"m\",\"patch\":{},\"diff\":\"-a\",\"added\":1,"
           "\"removed\":2,\"x\":{\"err\":\"e\"}}",
           p->tool_use_id = "t1", SAY(content, "ok"), p->is_error = true, p->name = "Bash",
           p->outcome = "failed", p->duration_ms = 12.25, p->truncated = true,
           p->structured = "[1]", p->message_id = "m", p->patch = "{}", p->diff = "-a",
           p->added = 1, p->removed = 2, ev.meta.x = "{\"err\":\"e\"}");
    GOLDEN(tool_result, TOOL_RESULT, "{\"tool_use_id\":\"\",\"content\":\"\",\"is_error\":false}",
           (void)p);
    GOLDEN(request, REQUEST,
           "{\"request_id\":\"r1\",\"kind\":\"ask\",\"state\":\"open\",\"tool_use_id\":\"t1\","
           "\"tool\":\"ask\",\"subject\":\"s\",\"args\":[],\"reason\":\"why\",\"message\":\"m\","
           "\"questions\":[{\"id\":\"q\"}],\"schema\":{},\"expires_ms\":1784884501820,"
           "\"blocking\":true,\"decision\":\"answered\",\"answers\":[\"a\"],\"by\":\"user\"}",
           p->request_id = "r1", p->kind = "ask", p->state = "open", p->tool_use_id = "t1",
           p->tool = "ask", p->subject = "s", p->args = "[]", p->reason = "why", p->message = "m",
           p->questions = "[{\"id\":\"q\"}]", p->schema = "{}", p->expires_ms = 1784884501820,
           p->blocking = true, p->decision = "answered", p->answers = "[\"a\"]", p->by = "user");
}

static void test_golden_turn(void)
{
    GOLDEN(start, START,
           "{\"run_id\":\"r\",\"thread_id\":\"t\",\"parent_run_id\":\"p\",\"provider\":\"pr\","
           "\"model\":\"m\",\"source\":\"s\",\"task\":\"count\",\"input\":{\"a\":1},"
           "\"trace_id\":\"tr\",\"resumed\":true}",
           p->run_id = "r", p->thread_id = "t", p->parent_run_id = "p", p->provider = "pr",
           p->model = "m", p->source = "s", p->task = "count", p->input = "{\"a\":1}",
           p->trace_id = "tr", p->resumed = true);
    GOLDEN(step, STEP,
           "{\"state\":\"end\",\"kind\":\"agent\",\"name\":\"n\",\"index\":0,\"max\":3,"
           "\"message_id\":\"m\",\"step_id\":\"s\",\"outcome\":\"o\","
           "\"error\":{\"message\":\"e\"},\"result\":null}",
           p->state = "end", p->kind = "agent", p->name = "n", p->index = 0, p->max = 3,
           p->message_id = "m", p->step_id = "s", p->outcome = "o",
           p->error = "{\"message\":\"e\"}", p->result = "null");
    GOLDEN(error, ERROR, "{\"message\":\"died\",\"code\":\"agent_signal\"}", p->message = "died",
           p->code = "agent_signal");
    GOLDEN(done, DONE,
           "{\"reason\":\"stopped\",\"code\":\"c\",\"detail\":\"d\",\"turns\":2,\"result\":1,"
           "\"trace_id\":\"t\"}",
           p->reason = "stopped", p->code = "c", p->detail = "d", p->turns = 2, p->result = "1",
           p->trace_id = "t");
}

static void test_golden_context(void)
{
    GOLDEN(usage, USAGE,
           "{\"scope\":\"turn\",\"input_tokens\":812,\"output_tokens\":0,\"total_tokens\":908,"
           "\"cache_read_tokens\":1,\"cache_write_tokens\":2,\"cache_miss_tokens\":3,"
           "\"reasoning_tokens\":4,\"cache_counted\":true,\"cost_usd\":0.0142,\"cost\":0.1,"
           "\"currency\":\"EUR\",\"duration_ms\":6120,\"model\":\"m\",\"provider\":\"p\","
           "\"source\":\"s\",\"session\":{},\"stop_reason\":\"stop\",\"is_error\":false}",
           p->scope = "turn", p->input_tokens = 812, p->output_tokens = 0, p->total_tokens = 908,
           p->cache_read_tokens = 1, p->cache_write_tokens = 2, p->cache_miss_tokens = 3,
           p->reasoning_tokens = 4, p->cache_counted = 1, p->cost_usd = 0.0142, p->cost = 0.1,
           p->currency = "EUR", p->duration_ms = 6120, p->model = "m", p->provider = "p",
           p->source = "s", p->session = "{}", p->stop_reason = "stop", p->is_error = 0);
    GOLDEN(usage, USAGE, "{\"scope\":\"call\"}", p->scope = "call");
    GOLDEN(notice, NOTICE,
           "{\"level\":\"warn\",\"text\":\"t\",\"code\":\"retracted\",\"detail\":\"d\","
           "\"message_id\":\"m\",\"audience\":\"operator\"}",
           p->level = "warn", p->text = "t", p->code = "retracted", p->detail = "d",
           p->message_id = "m", ev.meta.audience = "operator");
    GOLDEN(state, STATE,
           "{\"scope\":\"activity\",\"op\":\"snapshot\",\"value\":{},\"patch\":[],\"key\":\"k\","
           "\"activity_type\":\"a\",\"replace\":false}",
           p->scope = "activity", p->op = "snapshot", p->value = "{}", p->patch = "[]",
           p->key = "k", p->activity_type = "a", p->replace = 0);
    GOLDEN(raw, RAW,
           "{\"dialect\":\"claude\",\"event\":{\"type\":\"new\"},\"name\":\"new\",\"id\":\"i\"}",
           p->dialect = "claude", SAY(event, "{\"type\":\"new\"}"), p->name = "new",
           ev.meta.id = "i");
}

static void test_time(void)
{
    static const struct {
        double ts;
        const char *text;
    } rows[] = {
        {0, "0"},
        {1784884501, "1784884501"},
        {1784884501.5, "1784884501.5"},
        {1784884501.820045, "1784884501.820045"},
        {1784884501.000001, "1784884501.000001"},
        {1784884501.1, "1784884501.1"},
        {1784884501.9999999, "1784884502"},
        {4294967295.9, "4294967295.9"},
        {8714884507.2, "8714884507.2"},
        {0.0000004, "0"},
        {-1, "-1"},
        {1e12, "1000000000000"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CLEANUP_BUF struct buf line = {0};
        struct event ev;
        event_init(&ev, TC_START);
        ev.meta.ts = rows[i].ts;
        codec_encode(&line, &ev);
        char *const ts = strstr(line.p, "\"ts\":") + 5;
        *strchr(ts, ',') = '\0';
        is_str(ts, rows[i].text, "ts %.9g", rows[i].ts);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *line, *why;
    } rows[] = {
        {"", "not a JSON object"},
        {"[]", "not a JSON object"},
        {"{\"type\":\"start\",\"payload\":{}", "not a JSON object"},
        {"{\"type\":\"start\",\"payload\":{\"a\":01}}", "not a JSON object"},
        {"{\"type\":\"start\",\"payload\":{}} {}", "not a JSON object"},
        {"{\"payload\":{}}", "type: missing"},
        {"{\"type\":1,\"payload\":{}}", "type: missing"},
        {"{\"type\":\"begin\",\"payload\":{}}", "type: unknown event type"},
        {"{\"type\":\"start\"}", "payload: not an object"},
        {"{\"type\":\"start\",\"payload\":[]}", "payload: not an object"},
        {"{\"type\":\"narration\",\"payload\":{}}", "narration.text: missing"},
        {"{\"type\":\"narration\",\"payload\":{\"text\":null}}", "narration.text: missing"},
        {"{\"type\":\"narration\",\"payload\":{\"text\":7}}", "narration.text: wrong type"},
        {"{\"type\":\"tool_result\",\"payload\":{\"tool_use_id\":\"t\",\"content\":\"\","
         "\"is_error\":\"no\"}}",
         "tool_result.is_error: wrong type"},
        {"{\"type\":\"tool_call\",\"payload\":{\"name\":\"n\",\"tool_use_id\":\"t\","
         "\"args\":[1]}}",
         "tool_call.args: wrong type"},
        {"{\"type\":\"raw\",\"payload\":{\"dialect\":\"d\"}}", "raw.event: missing"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena a = {0};
        struct event ev;
        const char *why = NULL;
        const int got = codec_decode(&ev, &a, rows[i].line, strlen(rows[i].line), &why);
        is_int(got, -1, "refused: %s", rows[i].line);
        is_str(why, rows[i].why, "the reason of the refusal");
        arena_fini(&a);
    }
}

/* Payload of the decoded line, encoded again. */
static void reads_as(const char *line, const char *payload, const char *what)
{
    struct arena a = {0};
    struct event ev;
    const char *why = NULL;
    CLEANUP_BUF struct buf out = {0};
    if (codec_decode(&ev, &a, line, strlen(line), &why) == 0)
        codec_encode_payload(&out, &ev);
    is_str(out.p ? out.p : why, payload, "%s", what);
    arena_fini(&a);
}

static void test_lenient(void)
{
    reads_as("{\"payload\":{\"state\":\"mark\"},\"more\":[{}],\"type\":\"step\"}",
             "{\"state\":\"mark\"}",
             "keys in any order, unknown members of the envelope are skipped");
    reads_as(" {\"type\":\"n\\u006ftice\",\"payload\":{\"te\\u0078t\":\"a\\ud83d\",\"level\":"
             "\"info\"}}\r",
             "{\"level\":\"info\",\"text\":\"a\xef\xbf\xbd\"}",
             "escapes in names, lone surrogates");
    reads_as("{\"type\":\"error\",\"payload\":{\"message\":\"m\",\"code\":null,\"agent\":null,"
             "\"x\":null}}",
             "{\"message\":\"m\"}", "null counts as missing");
    reads_as("{\"type\":\"tool_result\",\"payload\":{\"content\":\"c\",\"tool_use_id\":\"t\"}}",
             "{\"tool_use_id\":\"t\",\"content\":\"c\",\"is_error\":false}",
             "missing flags are false");
    reads_as("{\"type\":\"raw\",\"payload\":{\"dialect\":\"d\",\"event\":null}}",
             "{\"dialect\":\"d\",\"event\":null}", "a raw event may be null");
    reads_as("{\"type\":\"usage\",\"payload\":{\"scope\":\"call\",\"input_tokens\":12.0}}",
             "{\"scope\":\"call\",\"input_tokens\":12}", "1.0 counts as 1");
    reads_as("{\"type\":\"tool_call\",\"payload\":{\"name\":\"n\",\"tool_use_id\":\"t\",\"args\":"
             "{ \"a\" : [ 1 , 2 ] }}}",
             "{\"name\":\"n\",\"args\":{\"a\":[1,2]},\"tool_use_id\":\"t\"}", "JSON is compacted");
}

static void test_strangers(void)
{
    reads_as("{\"type\":\"start\",\"payload\":{\"mode\":\"plan\",\"n\":[1, 2]}}",
             "{\"x\":{\"mode\":\"plan\",\"n\":[1,2]}}", "unknown keys are added to x");
    reads_as("{\"type\":\"start\",\"payload\":{\"mode\":\"plan\",\"x\":{ \"a\":1},\"n\":2}}",
             "{\"x\":{\"a\":1,\"mode\":\"plan\",\"n\":2}}",
             "unknown keys are added after the members of x");
    reads_as("{\"type\":\"start\",\"payload\":{\"x\":{},\"n\":2}}", "{\"x\":{\"n\":2}}",
             "an empty x gets unknown keys");
    reads_as("{\"type\":\"start\",\"payload\":{\"x\":{}}}", "{\"x\":{}}", "an empty x is kept");
    reads_as("{\"type\":\"start\",\"payload\":{\"x\":5}}", "{\"x\":{\"x\":5}}",
             "an x of another type is an unknown key");
    reads_as("{\"type\":\"progress\",\"payload\":{\"percent\":\"half\",\"arg_chars\":1.5,"
             "\"loaded\":-1,\"phase\":3}}",
             "{\"x\":{\"percent\":\"half\",\"arg_chars\":1.5,\"loaded\":-1,\"phase\":3}}",
             "optional members of a wrong type or range are unknown keys");
    reads_as("{\"type\":\"start\",\"payload\":{\"a\\\"\\u0000\":{\"b\":\"\\ud800\"}}}",
             "{\"x\":{\"a\\\"\\ufffd\":{\"b\":\"\\ufffd\"}}}", "invalid Unicode is repaired");
}

/* Moving a member into x adds a level: at the limit that would make the line unreadable. */
static void test_depth(void)
{
    CLEANUP_BUF struct buf line = {0};
    buf_add_str(&line, "{\"type\":\"start\",\"payload\":{\"deep\":");
    for (int i = 0; i < JSON_MAX_DEPTH - 2; i++)
        buf_add_char(&line, '[');
    for (int i = 0; i < JSON_MAX_DEPTH - 2; i++)
        buf_add_char(&line, ']');
    buf_add_str(&line, "}}");
    struct arena a = {0};
    struct event ev;
    const char *why = NULL;
    is_int(codec_decode(&ev, &a, line.p, line.len, &why), -1,
           "an unknown member at the maximum depth");
    is_str(why, "payload: too deep", "an unknown member above the maximum depth is refused");
    arena_fini(&a);
}

/* A canonical stream as another implementation wrote it reads and writes the same. */
static void test_stream(void)
{
    size_t len;
    char *const text = tap_slurp(tap_source("event/canonical.jsonl"), &len);
    unsigned lines = 0, same = 0;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        struct arena a = {0};
        struct event ev;
        const char *why = "";
        CLEANUP_BUF struct buf out = {0};
        lines++;
        if (codec_decode(&ev, &a, line, strlen(line), &why) == 0)
            codec_encode(&out, &ev);
        json_t *const theirs = json_loads(line, 0, NULL), *const ours = json_loads(
                                                              out.p ? out.p : "", 0, NULL);
        json_object_set_new(
            theirs, "ts",
            json_integer((json_int_t)json_number_value(json_object_get(theirs, "ts"))));
        json_t *const payload = json_object_get(theirs, "payload");
        if (ev.kind == TC_REQUEST && !json_object_get(payload, "blocking"))
            json_object_set_new(payload, "blocking", json_false()); /* always written by us */
        if (json_equal(theirs, ours))
            same++;
        else
            diag("%s: %s -> %s", why, line, out.p ? out.p : "");
        json_decref(theirs);
        json_decref(ours);
        arena_fini(&a);
    }
    is_int(lines, 24, "lines of the recorded stream");
    is_int(same, lines, "all lines are written back unchanged");
    free(text);
}

int main(void)
{
    plan_lazy();
    test_round_trips();
    test_golden_text();
    test_golden_tools();
    test_golden_turn();
    test_golden_context();
    test_time();
    test_refused();
    test_lenient();
    test_strangers();
    test_depth();
    test_stream();
}
