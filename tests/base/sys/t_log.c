/* SPDX-License-Identifier: MIT
 * Tests of base/sys/log.h: the format of lines, and that a secret is masked in every encoding. */
#include "base/sys/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/sys/clock.h"
#include "tap/tap.h"

#define CANARY "Can4ry+s/cret\"\\%&"

static int pipe_fds[2];
static char seen[64 << 10];

/* What was logged since the last call. */
static const char *logged(void)
{
    const ssize_t n = read(pipe_fds[0], seen, sizeof seen - 1);
    seen[n > 0 ? n : 0] = '\0';
    return seen;
}

static void test_levels(void)
{
    ok(log_enabled(LOG_ERR) && log_enabled(LOG_WARN) && !log_enabled(LOG_INFO),
       "the default level is warning");
    log_setup(LOG_TEXT, LOG_INFO, pipe_fds[1]);
    ok(log_enabled(LOG_INFO) && !log_enabled(LOG_DEBUG), "the level is configured");
    log_write(LOG_DEBUG, "host", "quiet");
    is_str(logged(), "", "a message above the level is not written");
}

static void test_text(void)
{
    log_setup(LOG_TEXT, LOG_DEBUG, pipe_fds[1]);
    log_write(LOG_WARN, "instance cli", "returned %d", -1);
    is_str(logged(), "2026-11-21T07:30:00.123Z warning instance cli: returned -1\n", "a text line");
    log_write(LOG_ERR, "host",
              "a\nb\tc\x1b[31m\x7f \xc2\x9b \xe2\x80\xae \xe2\x81\xa6 \xe2\x80\xa8");
    is_str(logged(),
           "2026-11-21T07:30:00.123Z error host: "
           "a\\nb\\tc\\u001b[31m\\u007f \\u009b \\u202e \\u2066 \\u2028\n",
           "controls, C1, bidi and line separators are escaped");
    log_write(LOG_INFO, "ho\nst", "\xc3\xa4 \xff \"\\");
    is_str(logged(), "2026-11-21T07:30:00.123Z info ho\\nst: \xc3\xa4 \xef\xbf\xbd \"\\\n",
           "UTF-8 is kept, invalid bytes are replaced, names are escaped");
    errno = ENOENT;
    log_write(LOG_DEBUG, "host", "open: %m");
    has_str(logged(), "debug host: open: No such file or directory\n", "%%m is the text of errno");
    is_int(errno, ENOENT, "errno is unchanged");
}

static void test_json(void)
{
    log_setup(LOG_JSON, LOG_DEBUG, pipe_fds[1]);
    log_write(LOG_WARN, "host", "say \"%s\" \\ \r", "x\n");
    is_str(logged(),
           "{\"ts\":\"2026-11-21T07:30:00.123Z\",\"level\":\"warning\",\"name\":\"host\","
           "\"text\":\"say \\\"x\\n\\\" \\\\ \\u000d\"}\n",
           "a JSON line");
}

static void test_long(void)
{
    log_setup(LOG_TEXT, LOG_DEBUG, pipe_fds[1]);
    log_write(LOG_INFO, "host", "%50000d", 1);
    const size_t len = strlen(logged());
    ok(len > 8000 && len < 9000, "a long text is cut");
    has_str(seen + len - 4, "…\n", "a cut text ends with an ellipsis");
}

static void note(void *ctx, enum log_level level, const char *name, const char *text)
{
    snprintf(ctx, 80, "%d %s %s", (int)level, name, text);
}

static void test_diverted(void)
{
    char noted[80] = "";
    log_setup(LOG_TEXT, LOG_ERR, pipe_fds[1]);
    log_divert(note, noted);
    ok(log_enabled(LOG_DEBUG), "every level is enabled for a diverted log");
    log_write(LOG_DEBUG, "host", "a\n%s", "xoxb-1234567890-abc");
    is_str(noted, "7 host a\nxoxb-1234567890-abc", "a diverted message is not escaped or masked");
    is_str(logged(), "", "a diverted message is not written");
    log_divert(NULL, NULL);
    ok(!log_enabled(LOG_WARN), "the level is restored after the diversion");
    log_write(LOG_ERR, "host", "back");
    has_str(logged(), "error host: back", "messages are written after the diversion");
}

static void test_lost(void)
{
    log_setup(LOG_TEXT, LOG_DEBUG, pipe_fds[1]);
    const uint64_t before = log_lost_count();
    while (log_lost_count() == before) /* no reader: the pipe fills up */
        log_write(LOG_INFO, "host", "%4000d", 1);
    is_int((long long)(log_lost_count() - before), 1,
           "a line that could not be written is counted");
    while (*logged())
        ;
}

static void *log_many(UNUSED void *arg)
{
    for (int i = 0; i < 100; i++)
        log_write(LOG_INFO, "thread", "%020d", 7);
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, log_many, NULL);
    log_add_secret("registered meanwhile");
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    int lines = 0;
    const char *wanted = "2026-11-21T07:30:00.123Z info thread: 00000000000000000007\n";
    for (const char *p = logged(); strncmp(p, wanted, strlen(wanted)) == 0; p += strlen(wanted))
        lines++;
    is_int(lines, 400, "lines of several threads are whole");
    log_forget_secrets();
}

static const char *redact(const char *text)
{
    static struct buf out;
    buf_reset(&out);
    log_redact(&out, (struct str){text, strlen(text)});
    return out.p ? out.p : "";
}

/* The secret is registered twice, and one of its parts is an encoding of another secret. */
static void test_removed(void)
{
    log_add_secret(CANARY);
    log_add_secret(CANARY);
    log_add_secret("another-secret");
    log_remove_secret(CANARY);
    is_str(redact(CANARY), "***", "a secret with one registration left is masked");
    log_remove_secret(CANARY);
    is_str(redact(CANARY " another-secret"), CANARY " ***",
           "a removed secret is not masked, the others are");
    is_str(redact("?k=Can4ry%2Bs%2Fcret%22%5C%25%26&x"), "?k=Can4ry%2Bs%2Fcret%22%5C%25%26&x",
           "a removed secret is masked in no encoding");
    log_remove_secret("never registered");
    log_forget_secrets();
}

static void test_secrets(void)
{
    is_str(redact("x " CANARY " y"), "x " CANARY " y", "an unknown secret is not masked");
    log_add_secret(CANARY);
    log_add_secret(CANARY);
    is_str(redact("x " CANARY " y"), "x *** y", "a registered secret is masked");
    is_str(redact(CANARY), "***", "a secret that is the whole text");
    is_str(redact(CANARY CANARY), "***", "a secret twice in a row");
    is_str(redact("Can4ry+s/cret\"\\% Can4ry"), "Can4ry+s/cret\"\\% Can4ry",
           "parts of a secret are not masked");
    is_str(redact("{\"k\":\"Can4ry+s/cret\\\"\\\\%&\"}"), "{\"k\":\"***\"}",
           "a secret inside JSON");
    is_str(redact("?k=Can4ry%2Bs%2Fcret%22%5C%25%26&x"), "?k=***&x", "a percent-encoded secret");
    is_str(redact("?k=Can4ry%2bs%2fcret%22%5c%25%26&x"), "?k=***&x",
           "a secret percent-encoded in lower case");
    log_add_secret("short");
    is_str(redact("short"), "short",
           "a short secret is not masked, since it would mask ordinary text");
    log_add_secret("cret\"\\%&-and-more");
    is_str(redact(CANARY "-and-more!"), "***!", "overlapping secrets are masked whole");
    log_write(LOG_INFO, "host", "%s %8000d %s", CANARY, 1, CANARY);
    ok(!strstr(logged(), "Can4ry"), "the secret is not in a line, not even where the line is cut");
    log_forget_secrets();
    is_str(redact(CANARY), CANARY, "no secret is masked after all are forgotten");
}

/* Base64 without padding, for comparison. */
static void base64(const char *in, size_t len, const char *last, char *out)
{
    static const char abc[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    unsigned have = 0, bits = 0;
    for (size_t i = 0; i < len || have; have -= 6) {
        if (have < 6 && i < len) {
            bits = bits << 8 | (unsigned char)in[i++];
            have += 8;
        } else if (have < 6) {
            bits <<= 6 - have;
            have = 6;
        }
        const unsigned six = bits >> (have - 6) & 63;
        *out++ = six < 62 ? abc[six] : last[six - 62];
    }
    *out = '\0';
}

static void test_base64(void)
{
    static const char secret[] = "s3cr\xfft\xfe\xfd?>~value";
    log_add_secret(secret);
    for (int alphabet = 0; alphabet < 2; alphabet++)
        for (int before = 0; before < 5; before++) {
            char plain[64], encoded[128];
            const int len = snprintf(plain, sizeof plain, "%.*s%s:tail", before, "user:", secret);
            base64(plain, (size_t)len, alphabet ? "-_" : "+/", encoded);
            const char *const mask = strstr(redact(encoded), "***");
            ok(mask, "base64 after %d bytes, alphabet %d", before, alphabet);
            ok(strlen(redact(encoded)) + 16 <= strlen(encoded),
               "all of the encoded text except its edges is masked");
        }
    log_forget_secrets();
}

static void test_tokens(void)
{
    static const struct {
        const char *text, *masked;
    } rows[] = {
        {"https://api.telegram.org/bot123456:AAH-x_Yz/getMe", "https://api.telegram.org/***/getMe"},
        {"bot1:a", "***"},
        {"robot12: x, bot12, bot:x, bot12:", "robot12: x, bot12, bot:x, bot12:"},
        {"token xoxb-123456789012-abcDEF.", "token ***."},
        {"xoxp-1234567890", "***"},
        {"xapp-1-A0123456789-abc", "***"},
        {"xox-ray xoxb-", "xox-ray xoxb-"},
        {"key=sk-ant-api03-AbC_dEf", "key=***"},
        {"disk-usage-of-all task-runner-is-here sk-short",
         "disk-usage-of-all task-runner-is-here sk-short"},
        {"ghp_0123456789abcdefghij", "***"},
        {"bearer of bad news", "bearer of bad news"},
        {"Bearer abcdefgh.ijk~l+m/n=", "Bearer ***"},
        {"x BEARER   abcdefgh;", "x BEARER   ***;"},
        {"Authorization: Basic dXNlcjpwYXNz\r\nHost: x", "Authorization: ***\r\nHost: x"},
        {"{\"authorization\": \"Bearer abcdefghi\",\"x\":1}",
         "{\"authorization\": \"***\",\"x\":1}"},
        {"authorization=x y", "authorization=***"},
        {"authorization failed", "authorization failed"},
        {"Authorization:", "Authorization:"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        is_str(redact(rows[i].text), rows[i].masked, "token: %s", rows[i].text);
}

int main(void)
{
    plan_lazy();
    if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0)
        bail("pipe2: %m");
    clock_fake(0, 1795246200.123);
    test_levels();
    test_text();
    test_json();
    test_long();
    test_diverted();
    test_lost();
    test_threads();
    test_secrets();
    test_removed();
    test_base64();
    test_tokens();
}
