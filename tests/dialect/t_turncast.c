/* SPDX-License-Identifier: MIT
 * Tests of dialect/turncast/turncast_read.c and turncast_write.c: canonical lines in, the same
 * lines out. */
#include <stdlib.h>

#include "dialect/writer/writer.h"
#include "tap/tap.h"
#include "turn/translator.h"

struct copy {
    struct writer_stream writing;
    struct buf out;
    uint64_t seq;
};

/* What the guard does for a stream: counts, and names the turn. */
static void see(void *ctx, struct event *ev)
{
    struct copy *const c = ctx;
    ev->meta.seq = ++c->seq;
    ev->meta.correlation_id = "c";
    writer_stream_write(&c->writing, &c->out, ev);
}

static void feed(struct translator *t, const char *stream)
{
    for (const char *nl; (nl = strchr(stream, '\n')); stream = nl + 1)
        translator_feed_line(t, stream, (size_t)(nl - stream), true);
}

static char *copy_stream(const char *stream, enum writer_framing framing)
{
    struct copy c = {0};
    struct translator t;
    struct stream_end_info end = {.how = STREAM_EOF};
    writer_stream_init(&c.writing, writer_find("turncast"),
                       &(struct writer_conf){.framing = framing});
    translator_init(&t, NULL, see, &c);
    feed(&t, stream);
    translator_end(&t, &end);
    is_str(t.dialect->name, "turncast", "the dialect is found");
    translator_fini(&t);
    writer_stream_fini(&c.writing);
    return buf_steal(&c.out);
}

#define TAIL ",\"ts\":1784884501.5,\"correlation_id\":\"c\",\"session_id\":\"s\",\"seq\":"
#define START "{\"type\":\"start\",\"payload\":{\"model\":\"m\"}" TAIL "1,\"src\":\"x\"}"
#define TEXT                                                                                       \
    "{\"type\":\"narration\",\"payload\":{\"text\":\"a\\nb\",\"parent_id\":\"p\",\"x\":{\"k\":1}"  \
    "}" TAIL "2,\"src\":\"x\"}"

int main(void)
{
    plan_lazy();
    char *const lines = copy_stream(START "\n" TEXT "\n", FRAMING_LINES);
    is_str(lines, START "\n" TEXT "\n", "lines are copied byte for byte");
    free(lines);
    char *const frames = copy_stream(START "\n" TEXT "\n", FRAMING_SSE);
    is_str(frames, "data: " START "\n\ndata: " TEXT "\n\n", "and framed");
    char *const back = copy_stream(frames, FRAMING_LINES);
    is_str(back, START "\n" TEXT "\n", "frames are read back");
    free(frames);
    free(back);
    ok(!writer_find("nothing"), "an unknown writer");
    return 0;
}
