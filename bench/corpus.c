/* SPDX-License-Identifier: MIT
 * Writes the benchmark's stream: calls of a model with thinking, text and a tool, till it is long
 * enough. */
#include "bench/corpus.h"

#include <inttypes.h>
#include <string.h>

#include "event/jsonw.h"

struct corpus {
    struct buf *out;
    uint64_t random;
    unsigned call;
};

static uint32_t next(struct corpus *c, uint32_t below)
{
    c->random = c->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(c->random >> 33) % below;
}

/* Prose with what needs an escape now and then, and some that is not ASCII. */
static void add_words(struct corpus *c, struct buf *to, size_t bytes)
{
    static const char *const words[] = {"the ",    "disk ",     "is ",     "full ",   "of ",
                                        "logs; ",  "\"/srv\" ", "Grüße ",  "return ", "0;\n",
                                        "static ", "const ",    "struct ", "中文 ",   "{\t"};
    const size_t end = to->len + bytes;
    while (to->len < end)
        buf_add_str(to, words[next(c, sizeof words / sizeof *words)]);
}

static void add_text(struct corpus *c, size_t bytes)
{
    CLEANUP_BUF struct buf text = {0};
    add_words(c, &text, bytes);
    jsonw_string(c->out, text.p, text.len);
}

static void end_line(struct corpus *c)
{
    buf_printf(
        c->out,
        ",\"parent_tool_use_id\":null,\"session_id\":\"8e1f5a60-0000-4000-8000-000000000001\","
        "\"uuid\":\"%08x-0000-4000-8000-%012x\"}\n",
        next(c, 1u << 31), c->call);
}

static void begin_event(struct corpus *c, const char *type, unsigned index)
{
    buf_printf(c->out, "{\"type\":\"stream_event\",\"event\":{\"type\":\"%s\",\"index\":%u", type,
               index);
}

static void put_delta(struct corpus *c, unsigned index, const char *type, const char *key,
                      size_t bytes)
{
    begin_event(c, "content_block_delta", index);
    buf_printf(c->out, ",\"delta\":{\"type\":\"%s\",\"%s\":", type, key);
    add_text(c, bytes);
    buf_add_str(c->out, "}}");
    end_line(c);
}

static void put_block_start(struct corpus *c, unsigned index, const char *block)
{
    begin_event(c, "content_block_start", index);
    buf_printf(c->out, ",\"content_block\":%s}", block);
    end_line(c);
}

static void put_block_stop(struct corpus *c, unsigned index)
{
    begin_event(c, "content_block_stop", index);
    buf_add_char(c->out, '}');
    end_line(c);
}

static void begin_assistant(struct corpus *c)
{
    buf_printf(c->out,
               "{\"type\":\"assistant\",\"message\":{\"id\":\"msg_%08u\",\"type\":\"message\","
               "\"role\":\"assistant\",\"model\":\"claude-bench\",\"content\":[",
               c->call);
}

static void end_assistant(struct corpus *c)
{
    buf_add_str(c->out,
                "],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":4,"
                "\"cache_read_input_tokens\":15210,\"output_tokens\":1}}");
    end_line(c);
}

/* A block told twice, as the CLI does: in deltas, then whole. */
static void put_text(struct corpus *c, unsigned index, bool thinking, unsigned deltas)
{
    const char *const type = thinking ? "thinking_delta" : "text_delta";
    const char *const key = thinking ? "thinking" : "text";
    put_block_start(c, index,
                    thinking ? "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}"
                             : "{\"type\":\"text\",\"text\":\"\"}");
    const uint64_t seed = c->random;
    for (unsigned i = 0; i < deltas; i++)
        put_delta(c, index, type, key, 12);
    begin_assistant(c);
    buf_printf(c->out, "{\"type\":\"%s\",\"%s\":", key, key);
    CLEANUP_BUF struct buf whole = {0};
    struct corpus again = {.random = seed};
    for (unsigned i = 0; i < deltas; i++) {
        add_words(&again, &whole, 12);
        next(&again, 1u << 31); /* the uuid of that line */
    }
    jsonw_string(c->out, whole.p, whole.len);
    buf_add_char(c->out, '}');
    end_assistant(c);
    put_block_stop(c, index);
}

static void put_tool(struct corpus *c, unsigned index)
{
    CLEANUP_BUF struct buf block = {0};
    buf_printf(&block,
               "{\"type\":\"tool_use\",\"id\":\"toolu_%08u\",\"name\":\"Bash\",\"input\":{}}",
               c->call);
    put_block_start(c, index, block.p);
    static const char *const pieces[] = {"{\\\"command\\\": \\\"", "df -h /srv", " | tail -n 1",
                                         "\\\", \\\"timeout\\\": ", "1000}"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        begin_event(c, "content_block_delta", index);
        buf_printf(c->out, ",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"%s\"}}",
                   pieces[i]);
        end_line(c);
    }
    begin_assistant(c);
    buf_printf(
        c->out,
        "{\"type\":\"tool_use\",\"id\":\"toolu_%08u\",\"name\":\"Bash\",\"input\":{\"command\":"
        "\"df -h /srv | tail -n 1\",\"timeout\":1000}}",
        c->call);
    end_assistant(c);
    put_block_stop(c, index);
}

static void put_result(struct corpus *c)
{
    /* Small ones are many: the size is the smaller of two draws. */
    const size_t a = 500 + next(c, 50000), b = 500 + next(c, 50000);
    buf_printf(c->out,
               "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"tool_use_id\":"
               "\"toolu_%08u\",\"type\":\"tool_result\",\"content\":",
               c->call);
    add_text(c, a < b ? a : b);
    buf_add_str(c->out, ",\"is_error\":false}]}");
    end_line(c);
}

static void put_call(struct corpus *c, bool with_tool)
{
    c->call++;
    buf_printf(
        c->out,
        "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_start\",\"message\":{\"id\":"
        "\"msg_%08u\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-bench\","
        "\"content\":[],\"usage\":{\"input_tokens\":4,\"output_tokens\":1}}}",
        c->call);
    end_line(c);
    put_text(c, 0, true, 10 + next(c, 20));
    put_text(c, 1, false, 20 + next(c, 60));
    if (with_tool)
        put_tool(c, 2);
    buf_printf(c->out,
               "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_delta\",\"delta\":{"
               "\"stop_reason\":\"%s\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":212}}",
               with_tool ? "tool_use" : "end_turn");
    end_line(c);
    buf_add_str(c->out, "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_stop\"}");
    end_line(c);
    if (with_tool)
        put_result(c);
}

void corpus_make(struct buf *out, size_t bytes, uint64_t seed)
{
    struct corpus c = {.out = out, .random = seed};
    const size_t end = out->len + bytes;
    buf_add_str(out,
                "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/srv\",\"tools\":[\"Bash\"],"
                "\"mcp_servers\":[],\"model\":\"claude-bench\",\"permissionMode\":\"default\"");
    end_line(&c);
    while (out->len < end)
        put_call(&c, true);
    put_call(&c, false);
    buf_printf(
        out,
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"duration_ms\":6120,"
        "\"num_turns\":%u,\"result\":\"All is well.\",\"total_cost_usd\":0.0142,\"usage\":{"
        "\"input_tokens\":812,\"output_tokens\":96}",
        c.call);
    end_line(&c);
}
