/* SPDX-License-Identifier: MIT
 * corpus KIND MB [SEED]: a seeded stream of a coding agent on stdout, as Claude Code prints it;
 * the same bytes for the same seed. It is one turn: calls of a model with thinking, text and a
 * tool, till it is long enough. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/prose.h"

struct kind {
    const char *name;
    uint32_t escapes, foreign; /* so many of 1,000 words */
    bool rich;
    uint32_t thoughts, deltas;          /* of one call, at most */
    uint32_t result_least, result_most; /* bytes of a tool's result; small ones are many */
    uint32_t answer;                    /* bytes of a text told whole only; 0: told in deltas */
};

/* Recordings have about 16 backslashes and up to 4 bytes beyond ASCII in a kilobyte; so do the
 * first two. */
static const struct kind kinds[] = {
    {"mix", 166, 19, false, 12, 28, 500, 50000, 0},
    {"big", 74, 8, false, 1, 1, 1000000, 1000001, 1000000},
    {"unicode", 400, 350, true, 12, 28, 500, 50000, 0},
};

struct corpus {
    const struct kind *kind;
    struct prose prose;
    struct buf out;
    struct buf told; /* in deltas, of the block that is open */
    uint64_t bytes;  /* written so far */
    unsigned call;
};

static void end_line(struct corpus *c)
{
    buf_printf(
        &c->out,
        ",\"parent_tool_use_id\":null,\"session_id\":\"8e1f5a60-0000-4000-8000-000000000001\","
        "\"uuid\":\"%08x-0000-4000-8000-%012x\"}\n",
        prose_draw(&c->prose, 1u << 31), c->call);
}

static void begin_event(struct corpus *c, const char *type, unsigned index)
{
    buf_printf(&c->out, "{\"type\":\"stream_event\",\"event\":{\"type\":\"%s\",\"index\":%u", type,
               index);
}

static void put_delta(struct corpus *c, unsigned index, const char *type, const char *key)
{
    const size_t from = c->told.len;
    prose_add(&c->prose, &c->told, 12);
    begin_event(c, "content_block_delta", index);
    buf_printf(&c->out, ",\"delta\":{\"type\":\"%s\",\"%s\":\"%s\"}}", type, key, c->told.p + from);
    end_line(c);
}

static void put_block_start(struct corpus *c, unsigned index, const char *block)
{
    begin_event(c, "content_block_start", index);
    buf_printf(&c->out, ",\"content_block\":%s}", block);
    end_line(c);
}

static void put_block_stop(struct corpus *c, unsigned index)
{
    begin_event(c, "content_block_stop", index);
    buf_add_char(&c->out, '}');
    end_line(c);
}

static void begin_assistant(struct corpus *c)
{
    buf_printf(&c->out,
               "{\"type\":\"assistant\",\"message\":{\"id\":\"msg_%08u\",\"type\":\"message\","
               "\"role\":\"assistant\",\"model\":\"claude-bench\",\"content\":[",
               c->call);
}

static void end_assistant(struct corpus *c)
{
    buf_add_str(&c->out,
                "],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":4,"
                "\"cache_read_input_tokens\":15210,\"output_tokens\":1}}");
    end_line(c);
}

static void put_whole(struct corpus *c, const char *key)
{
    begin_assistant(c);
    buf_printf(&c->out, "{\"type\":\"%s\",\"%s\":\"", key, key);
    buf_add(&c->out, c->told.p, c->told.len);
    buf_add_str(&c->out, "\"}");
    end_assistant(c);
    buf_reset(&c->told);
}

/* A block told twice, as the CLI does: in deltas, then whole. */
static void put_text(struct corpus *c, unsigned index, bool thinking, unsigned deltas)
{
    const char *const type = thinking ? "thinking_delta" : "text_delta";
    const char *const key = thinking ? "thinking" : "text";
    put_block_start(c, index,
                    thinking ? "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}"
                             : "{\"type\":\"text\",\"text\":\"\"}");
    for (unsigned i = 0; i < deltas; i++)
        put_delta(c, index, type, key);
    put_whole(c, key);
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
        buf_printf(&c->out, ",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"%s\"}}",
                   pieces[i]);
        end_line(c);
    }
    begin_assistant(c);
    buf_printf(
        &c->out,
        "{\"type\":\"tool_use\",\"id\":\"toolu_%08u\",\"name\":\"Bash\",\"input\":{\"command\":"
        "\"df -h /srv | tail -n 1\",\"timeout\":1000}}",
        c->call);
    end_assistant(c);
    put_block_stop(c, index);
}

static size_t draw_size(struct corpus *c)
{
    double share = 1;
    for (int i = 0; i < 3; i++)
        share *= prose_draw(&c->prose, 1 << 20) / (double)(1 << 20);
    const struct kind *const k = c->kind;
    return k->result_least + (size_t)(share * (k->result_most - k->result_least));
}

static void put_result(struct corpus *c)
{
    buf_printf(&c->out,
               "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"tool_use_id\":"
               "\"toolu_%08u\",\"type\":\"tool_result\",\"content\":\"",
               c->call);
    prose_add(&c->prose, &c->out, draw_size(c));
    buf_add_str(&c->out, "\",\"is_error\":false}]}");
    end_line(c);
}

static void put_call(struct corpus *c, bool with_tool)
{
    c->call++;
    buf_printf(
        &c->out,
        "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_start\",\"message\":{\"id\":"
        "\"msg_%08u\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-bench\","
        "\"content\":[],\"usage\":{\"input_tokens\":4,\"output_tokens\":1}}}",
        c->call);
    end_line(c);
    put_text(c, 0, true, 1 + prose_draw(&c->prose, c->kind->thoughts));
    if (c->kind->answer) {
        prose_add(&c->prose, &c->told, c->kind->answer);
        put_whole(c, "text");
    } else {
        put_text(c, 1, false, 1 + prose_draw(&c->prose, c->kind->deltas));
    }
    if (with_tool)
        put_tool(c, 2);
    buf_printf(&c->out,
               "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_delta\",\"delta\":{"
               "\"stop_reason\":\"%s\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":212}}",
               with_tool ? "tool_use" : "end_turn");
    end_line(c);
    buf_add_str(&c->out, "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_stop\"}");
    end_line(c);
    if (with_tool)
        put_result(c);
}

static void put_init(struct corpus *c)
{
    buf_add_str(&c->out,
                "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/srv\",\"tools\":[\"Bash\"],"
                "\"mcp_servers\":[],\"model\":\"claude-bench\",\"permissionMode\":\"default\"");
    end_line(c);
}

static void put_end(struct corpus *c)
{
    buf_printf(&c->out,
               "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"duration_ms\":"
               "6120,\"num_turns\":%u,\"result\":\"",
               c->call);
    prose_add(&c->prose, &c->out, c->kind->answer ? c->kind->answer : 200);
    buf_add_str(&c->out, "\",\"total_cost_usd\":0.0142,\"usage\":{\"input_tokens\":812,"
                         "\"output_tokens\":96}");
    end_line(c);
}

static void flush(struct corpus *c)
{
    if (fwrite(c->out.p, 1, c->out.len, stdout) != c->out.len)
        exit(1);
    c->bytes += c->out.len;
    buf_reset(&c->out);
}

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const struct kind *const kind = argc > 1 ? find_kind(argv[1]) : NULL;
    const double megabytes = argc > 2 ? strtod(argv[2], NULL) : 0;
    if (argc > 4 || !kind || megabytes <= 0 || megabytes > 1 << 20) {
        fprintf(stderr, "usage: %s mix|big|unicode MB [SEED]\n", argv[0]);
        return 2;
    }
    struct corpus c = {.kind = kind,
                       .prose = {.random = argc > 3 ? strtoull(argv[3], NULL, 10) : 1,
                                 .escapes = kind->escapes,
                                 .foreign = kind->foreign,
                                 .rich = kind->rich}};
    for (put_init(&c); (double)c.bytes < megabytes * 1e6; flush(&c))
        put_call(&c, true);
    put_call(&c, false);
    put_end(&c);
    flush(&c);
    buf_fini(&c.out);
    buf_fini(&c.told);
    return fflush(stdout) == 0 ? 0 : 1;
}
