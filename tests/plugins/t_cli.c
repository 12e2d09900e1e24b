/* SPDX-License-Identifier: MIT
 * Tests of the connector cli: the lines of the CLIReporter, the rich view, a real terminal. */
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes/buf.h"
#include "event/json/json_writer.h"
#include "plugins/host.h"
#include "plugins/sequences.h"
#include "tap/tap.h"

/* stderr goes to a file while an instance is running. */
struct stage {
    struct plugin_host *h;
    int saved, fd;
};

static struct stage stage_on(int fd, const char *mode, const char *color)
{
    const char *const options[] = {"mode", mode, "color", color, NULL};
    struct stage s = {.h = plugin_host_new("cli", options), .saved = dup(2), .fd = fd};
    dup2(fd, 2);
    if (plugin_host_init(s.h))
        bail("cli does not start: %s", plugin_host_log(s.h));
    return s;
}

static struct stage stage_new(const char *mode, const char *color)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/stderr", tap_tmpdir());
    return stage_on(open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), mode, color);
}

static void stage_end(struct stage *s)
{
    plugin_host_free(s->h);
    dup2(s->saved, 2);
    close(s->saved);
}

/* Ends the stage. Returns the output, valid until the next call. */
static const char *stage_text(struct stage *s)
{
    static char text[1 << 16];
    stage_end(s);
    const ssize_t n = pread(s->fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    close(s->fd);
    return text;
}

/* Sends the example of the reporter and the other lines that it writes. */
static void send_lines(struct plugin_host *h)
{
    plugin_host_send(h, "start", "{\"task\":\"Summarize the README file\"}");
    plugin_host_send(h, "step", "{\"state\":\"start\",\"index\":0,\"max\":10}");
    plugin_host_send(h, "narration", "{\"text\":\"Let me look.\"}");
    plugin_host_send(h, "tool_call", "{\"name\":\"file_read\",\"args\":{},\"tool_use_id\":\"t1\"}");
    plugin_host_send(h, "progress", "{\"percent\":50,\"message\":\"reading — half way\"}");
    plugin_host_send(h, "progress", "{\"percent\":0.5,\"message\":\"even\"}");
    plugin_host_send(h, "progress", "{\"percent\":1.5,\"message\":\"even\"}");
    plugin_host_send(h, "progress", "{\"percent\":99.5,\"message\":\"even\"}");
    plugin_host_send(h, "tool_result",
                     "{\"tool_use_id\":\"t1\",\"content\":\"\",\"is_error\":false}");
    plugin_host_send(h, "step", "{\"state\":\"end\",\"index\":0}");
    plugin_host_send(h, "tool_call", "{\"name\":\"mcp__a__b\",\"args\":{},\"tool_use_id\":\"t2\"}");
    plugin_host_send(h, "tool_result",
                     "{\"tool_use_id\":\"t2\",\"content\":\"\",\"is_error\":true}");
    plugin_host_send(h, "step", "{\"state\":\"start\",\"index\":1,\"max\":10}");
    plugin_host_send(h, "final", "{\"text\":\"It is short.\"}");
    plugin_host_send(h, "done", "{\"reason\":\"completed\",\"turns\":2}");
    plugin_host_send(h, "start", "{\"task\":\"Deploy\"}");
    plugin_host_send(h, "error", "{\"message\":\"Provider timeout after 30s\"}");
    plugin_host_send(h, "done", "{\"reason\":\"error\"}");
}

static void test_lines(void)
{
    struct stage s = stage_new("auto", "auto");
    send_lines(s.h);
    is_str(stage_text(&s),
           "  [progress] Starting: Summarize the README file\n"
           "  [progress] Iteration 1/10\n"
           "  [progress] Tool: file_read...\n"
           "  [progress] 50% — reading — half way\n"
           "  [progress] 0% — even\n"
           "  [progress] 2% — even\n"
           "  [progress] 100% — even\n"
           "  [progress] Tool: file_read done — ok\n"
           "  [progress] Tool: mcp__a__b...\n"
           "  [progress] Tool: mcp__a__b done — error\n"
           "  [progress] Iteration 2/10\n"
           "  [progress] Complete: finished after 2 iteration(s)\n"
           "  [progress] Starting: Deploy\n"
           "  [progress] Error: Provider timeout after 30s\n",
           "log mode: only the lines of the reporter");
    s = stage_new("lines", "auto");
    plugin_host_send(s.h, "step", "{\"state\":\"start\",\"index\":1}");
    is_str(stage_text(&s), "  [progress] Iteration 2\n", "log mode: an iteration without a total");
    s = stage_new("lines", "auto");
    plugin_host_send(s.h, "notice", "{\"level\":\"warn\",\"text\":\"slow\",\"code\":\"x\"}");
    plugin_host_send(s.h, "notice", "{\"level\":\"info\",\"text\":\"fine\"}");
    plugin_host_send(s.h, "notice",
                     "{\"level\":\"info\",\"text\":\"gone\",\"code\":\"retracted\"}");
    is_str(stage_text(&s), "  [progress] Warning: slow\n",
           "log mode: warnings are written, information is not");
}

/* Requests that a policy decides are not shown. */
static void send_requests(struct plugin_host *h)
{
    plugin_host_send(
        h, "request",
        "{\"request_id\":\"r\",\"kind\":\"approval\",\"state\":\"open\",\"tool\":\"Bash\","
        "\"subject\":\"make\\ncheck\",\"blocking\":true,\"choices\":[{\"id\":\"allow\","
        "\"label\":\"Allow\"}]}");
    plugin_host_send(h, "request",
                     "{\"request_id\":\"r\",\"kind\":\"approval\",\"state\":\"resolved\","
                     "\"blocking\":true,\"decision\":\"allow\",\"by\":\"Ann (telegram)\"}");
    plugin_host_send(
        h, "request",
        "{\"request_id\":\"q\",\"kind\":\"approval\",\"state\":\"open\",\"tool\":\"Bash\","
        "\"subject\":\"ls\",\"blocking\":false}");
    plugin_host_send(h, "request",
                     "{\"request_id\":\"q\",\"kind\":\"approval\",\"state\":\"resolved\","
                     "\"blocking\":false,\"decision\":\"allow\",\"by\":\"policy\"}");
}

static void test_requests(void)
{
    struct stage s = stage_new("lines", "auto");
    send_requests(s.h);
    is_str(stage_text(&s),
           "  [progress] Waiting for an answer: make check\n"
           "  [progress] Decided: allowed by Ann (telegram)\n",
           "log mode: the output names a waiting request, and the user who decided it");
    s = stage_new("rich", "never");
    send_requests(s.h);
    is_str(stage_text(&s), "? Approval needed: Bash: make check\n? allowed by Ann (telegram)\n",
           "rich mode without a keyboard: the request and its decision");
}

/* Sends the turn of an agent: text, two parallel tools, a sub-agent, an answer. */
static void send_turn(struct plugin_host *h)
{
    plugin_host_send(h, "start", "{\"model\":\"m\"}");
    plugin_host_send(h, "thinking", "{\"text\":\"Need\"}");
    plugin_host_send(h, "thinking", "{\"text\":\" figures.\"}");
    plugin_host_send(h, "narration", "{\"text\":\"Checking \",\"message_id\":\"m1\"}");
    plugin_host_send(h, "narration", "{\"text\":\"disks.\",\"message_id\":\"m1\"}");
    plugin_host_set_time(h, 100);
    plugin_host_send(h, "tool_call",
                     "{\"name\":\"Bash\",\"args\":{\"command\":\"df -h\"},\"tool_use_id\":\"t1\"}");
    plugin_host_set_time(h, 101.2);
    plugin_host_send(h, "tool_result",
                     "{\"tool_use_id\":\"t1\",\"content\":\"ok\",\"is_error\":false}");
    plugin_host_send(h, "tool_call",
                     "{\"name\":\"mcp__disk__usage\",\"args\":{\"n\":1},\"tool_use_id\":\"t2\"}");
    plugin_host_send(h, "tool_call",
                     "{\"name\":\"Read\",\"args\":{\"file_path\":\"/x\"},\"tool_use_id\":\"t3\"}");
    plugin_host_send(
        h, "tool_result",
        "{\"tool_use_id\":\"t2\",\"content\":\"\\n no such disk\\nmore\",\"is_error\":true,"
        "\"duration_ms\":850}");
    plugin_host_send(h, "tool_result",
                     "{\"tool_use_id\":\"t3\",\"content\":\"ok\",\"is_error\":false}");
    plugin_host_send(h, "tool_result",
                     "{\"tool_use_id\":\"t9\",\"content\":\"ok\",\"is_error\":false}");
    plugin_host_set_meta(h, "t1", 0);
    plugin_host_send(h, "narration", "{\"text\":\"sub\\nagent\"}");
    plugin_host_set_meta(h, NULL, 0);
    plugin_host_send(h, "narration", "{\"text\":\"\\nAll \",\"message_id\":\"m2\"}");
    plugin_host_send(h, "narration", "{\"text\":\"fine.\\n\",\"message_id\":\"m2\"}");
}

static void finish_turn(struct plugin_host *h, const char *final)
{
    plugin_host_send(h, "final", final);
    plugin_host_send(h, "usage", "{\"scope\":\"call\",\"input_tokens\":5,\"output_tokens\":6}");
    plugin_host_send(
        h, "usage",
        "{\"scope\":\"turn\",\"input_tokens\":812,\"output_tokens\":12345,\"cost_usd\":0.0142,"
        "\"cache_read_tokens\":7,\"duration_ms\":6120}");
    plugin_host_send(h, "done", "{\"reason\":\"completed\",\"turns\":2}");
}

#define TURN                                                                                       \
    "┊ Need figures.\n"                                                                          \
    "Checking disks.\n"                                                                            \
    "▶ Bash: df -h\n"                                                                            \
    "✓ Bash: df -h (1.2s)\n"                                                                     \
    "▶ usage: 1\n"                                                                               \
    "▶ Read: /x\n"                                                                               \
    "✗ usage: 1 (850ms)\n"                                                                       \
    "  no such disk\n"                                                                             \
    "✓ Read: /x (0ms)\n"                                                                         \
    "✓ ? (?)\n"                                                                                  \
    "│ sub\n"                                                                                    \
    "│ agent\n"                                                                                  \
    "All fine.\n"
#define TURN_END                                                                                   \
    "812 in · 12.3k out · 7 cached · $0.0142 · 6.1s\n"                                         \
    "  [progress] Complete: finished after 2 iteration(s)\n"

static void test_rich(void)
{
    struct stage s = stage_new("rich", "never");
    send_turn(s.h);
    finish_turn(s.h, "{\"text\":\"All fine.\"}");
    is_str(stage_text(&s), TURN TURN_END,
           "rich mode: an answer that was just narrated is not repeated");
    s = stage_new("rich", "never");
    send_turn(s.h);
    finish_turn(s.h, "{\"text\":\"All is fine.\"}");
    is_str(stage_text(&s), TURN "All is fine.\n" TURN_END,
           "rich mode: an answer that differs from the narration is written");
    s = stage_new("rich", "never");
    plugin_host_send(s.h, "final", "{\"text\":\"Hi.\"}");
    plugin_host_send(s.h, "done", "{\"reason\":\"stopped\"}");
    is_str(stage_text(&s), "Hi.\n  [progress] Complete: stopped\n",
           "rich mode: an answer without narration, and an end that is not success");
    s = stage_new("rich", "never");
    plugin_host_send(
        s.h, "request",
        "{\"request_id\":\"r\",\"kind\":\"approval\",\"state\":\"open\",\"tool\":\"Bash\","
        "\"reason\":\"writes\",\"blocking\":true}");
    plugin_host_send(
        s.h, "request",
        "{\"request_id\":\"r\",\"kind\":\"approval\",\"state\":\"resolved\",\"blocking\":true,"
        "\"decision\":\"deny\"}");
    plugin_host_send(s.h, "notice", "{\"level\":\"warn\",\"text\":\"slow\"}");
    plugin_host_send(s.h, "notice", "{\"level\":\"info\",\"text\":\"retry\"}");
    plugin_host_send(s.h, "progress", "{\"message\":\"compacting\"}");
    plugin_host_send(s.h, "step", "{\"state\":\"start\",\"kind\":\"agent\",\"name\":\"explorer\"}");
    plugin_host_send(s.h, "step", "{\"state\":\"start\",\"index\":0}");
    plugin_host_send(s.h, "step", "{\"state\":\"start\",\"index\":1,\"max\":3}");
    plugin_host_send(s.h, "error", "{\"message\":\"gone\"}");
    is_str(stage_text(&s),
           "? Approval needed: Bash: writes\n? denied\n! slow\n- retry\n- compacting\n"
           "- agent explorer\n  [progress] Iteration 2/3\n  [progress] Error: gone\n",
           "rich mode: other events for a user; an iteration only with its total");
    s = stage_new("rich", "always");
    plugin_host_send(s.h, "thinking", "{\"text\":\"hm\"}");
    is_str(stage_text(&s), "\033[2m┊ hm\033[0m\n", "colours on request");
}

/* More calls than the table can hold: only the oldest are forgotten. */
static void test_many_calls(void)
{
    struct stage s = stage_new("rich", "never");
    char payload[128];
    for (int i = 0; i < 70; i++) {
        snprintf(payload, sizeof payload,
                 "{\"name\":\"Bash\",\"args\":{\"command\":\"%d\"},\"tool_use_id\":\"t%d\"}", i, i);
        plugin_host_send(s.h, "tool_call", payload);
    }
    plugin_host_send(s.h, "tool_result",
                     "{\"tool_use_id\":\"t69\",\"content\":\"\",\"is_error\":false}");
    plugin_host_send(
        s.h, "tool_result",
        "{\"tool_use_id\":\"t0\",\"content\":\"\",\"is_error\":false,\"name\":\"Bash\"}");
    const char *text = stage_text(&s);
    has_str(text, "✓ Bash: 69 (0ms)\n", "the newest of 70 open calls has its arguments");
    has_str(text, "✓ Bash (?)\n", "the oldest call has its name only");
}

static void add_text(struct buf *b, const char *raw)
{
    struct buf valid = {0};
    for (; *raw; raw++) {
        const unsigned char c = (unsigned char)*raw;
        const bool lone = c >= 0x80 && c < 0xc0 &&
                          (valid.len == 0 || (unsigned char)valid.p[valid.len - 1] < 0x80);
        buf_add_char(&valid, lone ? '?' : *raw);
    }
    jsonw_string(b, valid.p ? valid.p : "", valid.len);
    buf_fini(&valid);
}

/* Sends payloads with the text in each place of a text; "%" stands for the text. */
static void send_with(struct plugin_host *h, const char *kind, const char *shape, const char *raw)
{
    CLEANUP_BUF struct buf payload = {0};
    for (; *shape; shape++)
        if (*shape == '%')
            add_text(&payload, raw);
        else
            buf_add_char(&payload, *shape);
    plugin_host_send(h, kind, payload.p);
}

static void send_everywhere(struct plugin_host *h, const char *raw)
{
    send_with(h, "start", "{\"task\":%,\"model\":%}", raw);
    send_with(h, "narration", "{\"text\":%,\"message_id\":%}", raw);
    send_with(h, "thinking", "{\"text\":%}", raw);
    send_with(h, "tool_call", "{\"name\":%,\"args\":{%:%},\"tool_use_id\":%}", raw);
    send_with(h, "tool_result", "{\"tool_use_id\":%,\"content\":%,\"is_error\":true}", raw);
    send_with(h, "tool_call", "{\"name\":\"Bash\",\"args\":{\"x\":{%:1}},\"tool_use_id\":\"t\"}",
              raw);
    send_with(h, "tool_call",
              "{\"name\":\"Edit\",\"args\":{\"file_path\":%,\"old_string\":%,\"new_string\":%},"
              "\"tool_use_id\":\"e\"}",
              raw);
    send_with(h, "tool_result", "{\"tool_use_id\":\"e\",\"content\":%,\"is_error\":false}", raw);
    send_with(h, "tool_call",
              "{\"name\":\"apply_patch\",\"args\":{\"changes\":[{\"path\":%,\"diff\":%}]},"
              "\"tool_use_id\":\"p\"}",
              raw);
    send_with(h, "tool_result",
              "{\"tool_use_id\":\"p\",\"content\":\"\",\"diff\":%,\"is_error\":false}", raw);
    send_with(h, "tool_call",
              "{\"name\":\"TodoWrite\",\"args\":{\"todos\":[{\"content\":%,\"status\":%}]},"
              "\"tool_use_id\":\"w\"}",
              raw);
    send_with(h, "state",
              "{\"scope\":\"activity\",\"op\":\"snapshot\",\"activity_type\":\"plan\","
              "\"value\":[%]}",
              raw);
    send_with(h, "tool_result",
              "{\"tool_use_id\":\"u\",\"name\":%,\"content\":\"\",\"is_error\":false}", raw);
    send_with(h, "progress", "{\"message\":%,\"percent\":5,\"name\":%}", raw);
    send_with(h, "progress", "{\"message\":%}", raw);
    send_with(h, "request",
              "{\"request_id\":%,\"kind\":%,\"state\":\"open\",\"tool\":%,\"message\":%,"
              "\"blocking\":true}",
              raw);
    send_with(h, "request",
              "{\"request_id\":%,\"kind\":%,\"state\":\"resolved\",\"decision\":%,"
              "\"blocking\":true}",
              raw);
    send_with(h, "step", "{\"state\":\"start\",\"kind\":\"agent\",\"name\":%}", raw);
    send_with(h, "notice", "{\"level\":%,\"text\":%}", raw);
    send_with(h, "usage", "{\"scope\":\"turn\",\"input_tokens\":1,\"output_tokens\":1,\"model\":%}",
              raw);
    send_with(h, "final", "{\"text\":%}", raw);
    send_with(h, "error", "{\"message\":%,\"code\":%}", raw);
    send_with(h, "done", "{\"reason\":%,\"detail\":%}", raw);
}

static bool is_clean(const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if ((*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7f ||
            (p[0] == 0xc2 && p[1] < 0xa0) ||
            (p[0] == 0xe2 && p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae))
            return false;
    return true;
}

static void test_sequences(const char *mode)
{
    unsigned dirty = 0;
    for (size_t i = 0; i < SEQUENCES; i++) {
        struct stage s = stage_new(mode, "never");
        send_everywhere(s.h, sequences[i].raw);
        const char *text = stage_text(&s);
        if (is_clean(text) && strlen(text) > 0)
            continue;
        dirty++;
        diag("%s in %s", sequences[i].what, mode);
    }
    is_int(dirty, 0, "%s: none of %zu sequences passes through any field", mode, SEQUENCES);
}

static void test_split_escape(void)
{
    struct stage s = stage_new("rich", "never");
    plugin_host_send(s.h, "narration", "{\"text\":\"a\\u001b\"}");
    plugin_host_idle(s.h);
    plugin_host_send(s.h, "narration", "{\"text\":\"[31mb\"}");
    is_str(stage_text(&s), "ab\n", "an escape sequence in two deltas is shown as text");
}

/* Text of two writers in alternating pieces: each text stays contiguous. */
static void test_writers(void)
{
    struct stage s = stage_new("rich", "never");
    plugin_host_send(s.h, "narration", "{\"text\":\"One **bo\",\"message_id\":\"m1\"}");
    plugin_host_set_meta(s.h, "t1", 0);
    plugin_host_send(s.h, "narration", "{\"text\":\"Two \",\"message_id\":\"m2\"}");
    plugin_host_set_meta(s.h, NULL, 0);
    plugin_host_send(s.h, "narration", "{\"text\":\"ld**.\\n\\nThree\",\"message_id\":\"m1\"}");
    plugin_host_set_meta(s.h, "t1", 0);
    plugin_host_send(s.h, "narration", "{\"text\":\"words\",\"message_id\":\"m2\"}");
    plugin_host_set_meta(s.h, NULL, 0);
    plugin_host_send(s.h, "final", "{\"text\":\"One **bold**.\\n\\nThree\"}");
    is_str(stage_text(&s), "One bold.\n\nThree\n│ Two words\n",
           "texts of two writers are not mixed");
}

/* Text that is withdrawn before it was written is not shown. */
static void test_retracted(void)
{
    struct stage s = stage_new("rich", "never");
    plugin_host_send(s.h, "narration", "{\"text\":\"wrong\",\"message_id\":\"m1\"}");
    plugin_host_send(
        s.h, "notice",
        "{\"level\":\"info\",\"text\":\"5 characters retracted\",\"code\":\"retracted\","
        "\"message_id\":\"m1\"}");
    plugin_host_send(s.h, "narration", "{\"text\":\"right\",\"message_id\":\"m2\"}");
    is_str(stage_text(&s), "- 5 characters retracted\nright\n", "withdrawn text is not shown");
}

static void test_retries(const char *mode)
{
    struct stage s = stage_new(mode, "never");
    plugin_host_send(s.h, "notice",
                     "{\"level\":\"warn\",\"text\":\"API error 529\",\"code\":\"api_retry\"}");
    plugin_host_send(s.h, "notice",
                     "{\"level\":\"info\",\"text\":\"again\",\"code\":\"retrying\"}");
    plugin_host_send(s.h, "error", "{\"message\":\"It is overloaded.\"}");
    const char *text = stage_text(&s);
    has_str(text, "API error 529\n", "%s: a retry is shown", mode);
    has_str(text,
            "  [progress] Error: It is overloaded. (attempts: 3)\n"
            "  [progress] Last retry: again\n",
            "%s: an error names the number of attempts", mode);
    s = stage_new(mode, "never");
    plugin_host_send(s.h, "notice", "{\"level\":\"warn\",\"text\":\"x\",\"code\":\"retry\"}");
    plugin_host_send(s.h, "error", "{\"message\":\"Gone after 2 attempts\"}");
    has_str(stage_text(&s), "Error: Gone after 2 attempts\n",
            "%s: an error that names its attempts itself is unchanged", mode);
}

/* Returns what the master side of a pseudo terminal has received. */
static const char *pty_text(int master, struct stage *s)
{
    static char text[1 << 16];
    size_t len = 0;
    ssize_t n;
    stage_end(s);
    close(s->fd);
    while ((n = read(master, text + len, sizeof text - 1 - len)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    close(master);
    return text;
}

static void test_terminal(void)
{
    int master, slave;
    const struct winsize size = {.ws_row = 24, .ws_col = 30};
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    if (openpty(&master, &slave, NULL, NULL, &size))
        bail("no pseudo terminal");
    struct stage s = stage_on(slave, "auto", "never");
    plugin_host_set_time(s.h, 100);
    plugin_host_send(s.h, "tool_call",
                     "{\"name\":\"Bash\",\"args\":{\"command\":\"cat 0123456789 0123456789\"},"
                     "\"tool_use_id\":\"t1\"}");
    plugin_host_set_time(s.h, 101.2);
    plugin_host_send(s.h, "tool_result",
                     "{\"tool_use_id\":\"t1\",\"content\":\"\",\"is_error\":false}");
    plugin_host_send(s.h, "narration", "{\"text\":\"So.\"}");
    is_str(pty_text(master, &s), "✓ Bash: cat 0123456789… (1.2s)\r\nSo.\r\n",
           "on a terminal a call has one line, which never wraps");
    openpty(&master, &slave, NULL, NULL, &size);
    s = stage_on(slave, "auto", "auto");
    plugin_host_send(s.h, "thinking", "{\"text\":\"hm\"}");
    is_str(pty_text(master, &s), "\033[2m┊ hm\033[0m\r\n", "a terminal has colours");
    setenv("NO_COLOR", "1", 1);
    openpty(&master, &slave, NULL, NULL, &size);
    s = stage_on(slave, "auto", "auto");
    plugin_host_send(s.h, "thinking", "{\"text\":\"hm\"}");
    is_str(pty_text(master, &s), "┊ hm\r\n", "NO_COLOR turns colours off");
    unsetenv("NO_COLOR");
    setenv("LC_ALL", "de_DE.ISO-8859-1", 1);
    openpty(&master, &slave, NULL, NULL, &size);
    s = stage_on(slave, "auto", "never");
    plugin_host_send(s.h, "narration", "{\"text\":\"Grüße\"}");
    plugin_host_send(s.h, "tool_call", "{\"name\":\"Bash\",\"args\":{},\"tool_use_id\":\"t1\"}");
    is_str(pty_text(master, &s), "Gr??e\r\n",
           "a terminal that cannot show other characters gets ASCII");
    setenv("LC_ALL", "C.UTF-8", 1);
}

static void test_broken_output(void)
{
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full < 0) {
        skip(2, "no /dev/full");
        return;
    }
    struct stage s = stage_on(full, "rich", "never");
    plugin_host_send(s.h, "narration", "{\"text\":\"x\\n\\ny\"}");
    const int rc = plugin_host_idle(s.h);
    plugin_host_send(s.h, "narration", "{\"text\":\"x\\n\\ny\"}");
    plugin_host_idle(s.h);
    char *log = strdup(plugin_host_log(s.h));
    stage_end(&s);
    close(full);
    is_int(rc, -1, "a write that fails is reported to the host");
    const char *first = strstr(log, "cannot write");
    ok(first && !strstr(first + 1, "cannot write"),
       "a write that fails is reported once to the operator");
    free(log);
}

int main(void)
{
    plan_lazy();
    test_lines();
    test_requests();
    test_rich();
    test_many_calls();
    test_sequences("rich");
    test_sequences("lines");
    test_split_escape();
    test_writers();
    test_retracted();
    test_retries("rich");
    test_retries("lines");
    test_terminal();
    test_broken_output();
    return 0;
}
