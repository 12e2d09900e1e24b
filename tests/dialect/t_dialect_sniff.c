/* SPDX-License-Identifier: MIT
 * Tests of dialect/dialect_sniff.c and of how translate finds framing and dialect by itself. */
#include "dialect/dialect_sniff.h"

#include "tap/tap.h"
#include "turn/translator.h"

struct seen {
    struct buf names;
    const struct translator *t;
};

static void see(void *ctx, struct event *ev)
{
    struct seen *const s = ctx;
    buf_printf(&s->names, "%s ", kind_name(ev->kind));
}

static void feed(struct translator *t, const char *stream)
{
    for (const char *nl; (nl = strchr(stream, '\n')); stream = nl + 1)
        translator_feed_line(t, stream, (size_t)(nl - stream), true);
    if (*stream)
        translator_feed_line(t, stream, strlen(stream), false);
}

static void check(const char *what, const char *stream, const char *dialect, const char *names)
{
    struct seen s = {0};
    struct translator t;
    struct stream_end_info end = {.how = STREAM_EOF};
    translator_init(&t, NULL, see, &s);
    feed(&t, stream);
    translator_end(&t, &end);
    is_str(t.dialect->name, dialect, "%s: the dialect", what);
    is_str(s.names.p ? s.names.p : "", names, "%s: the events", what);
    translator_fini(&t);
    buf_fini(&s.names);
}

#define CODEX_START "{\"type\":\"thread.started\",\"thread_id\":\"t\"}"
#define CODEX_TEXT                                                                                 \
    "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"agent_message\",\"text\":"     \
    "\"x\"}}"

static void test_found(void)
{
    check("codex", CODEX_START "\n" CODEX_TEXT "\n", "codex", "start narration message ");
    check("gemini",
          "{\"type\":\"init\",\"timestamp\":\"2026-11-21T02:00:07.517Z\",\"session_id\":\"s\"}\n",
          "gemini", "start ");
    check("opencode",
          "{\"type\":\"step_start\",\"timestamp\":1,\"sessionID\":\"s\",\"part\":{\"id\":\"p\"}}\n",
          "opencode", "start step ");
    check("ag-ui",
          "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n"
          "data: {\"type\":\"TEXT_MESSAGE_CHUNK\",\"messageId\":\"m\",\"delta\":\"x\"}\n\n",
          "ag-ui", "start narration ");
    check("claude",
          "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"m\"}\n",
          "claude", "start ");
}

static void test_framed(void)
{
    check("frames", ": hello\n\ndata: " CODEX_START "\n\ndata: " CODEX_TEXT "\n\ndata: [DONE]\n\n",
          "codex", "start narration message ");
    check("a frame in two lines",
          "data: {\"type\":\"thread.started\",\ndata: \"thread_id\":\"t\"}\n\n", "codex", "start ");
    check("an unterminated frame", "data: " CODEX_START "\n\ndata: " CODEX_TEXT, "codex",
          "start narration message ");
    check("a frame cut off is no noise", "data: " CODEX_START "\n\ndata: {\"type\":\"it", "codex",
          "start ");
}

static void test_late(void)
{
    check("rubbish first", "npm warn\n\nbanner\n" CODEX_START "\n" CODEX_TEXT "\n", "codex",
          "start notice notice narration message ");
    check("nothing", "", "claude", "");
    check("one line without newline", CODEX_START, "codex", "start ");
    check("only rubbish", "a\nb\n", "claude", "notice notice ");
}

/* The guess is made at a bound, and what was kept till then is read. */
static void test_bound(void)
{
    struct dialect_sniff s = {0};
    const struct dialect *found = NULL;
    int lines = 0;
    while (!found && lines < 1000) {
        found = dialect_sniff_feed(&s, "{}", 2, NULL);
        lines++;
    }
    ok(found == dialect_get(0), "lines that say nothing are the first dialect's");
    ok(lines > 1 && lines <= 64, "after a bounded number of lines");
    dialect_sniff_fini(&s);
}

/* Nothing is kept back of a stream that is known by its first line. */
static void test_at_once(void)
{
    static const char init[] = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}";
    struct dialect_sniff s = {0};
    const struct dialect *const found = dialect_sniff_feed(&s, init, sizeof init - 1, NULL);
    is_str(found ? found->name : "", "claude", "the first line of Claude Code is enough");
    dialect_sniff_fini(&s);
}

int main(void)
{
    plan_lazy();
    test_found();
    test_framed();
    test_late();
    test_bound();
    test_at_once();
    return 0;
}
