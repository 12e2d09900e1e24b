/* SPDX-License-Identifier: MIT
 * Tests of the services for text, people, routes and sockets, called in the same way as by a
 * plugin. */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "plugin/actor.h"
#include "tap/tap.h"

/* ---- text ---- */

#define MD(text) .markdown = (text), .len = sizeof(text) - 1

static void test_forms(struct tc_turn *t)
{
    size_t n = 7;
    const struct tc_piece *p =
        tc_pieces(t, TC_TEXT(MD("**hi** [x](https://a.test/?a=\"b\")"), .form = TC_TELEGRAM), &n);
    ok(p && n == 1, "tc_pieces returns one piece");
    is_str(p[0].text, "hi x", "the text of a piece");
    is_int((long long)p[0].len, 4, "the length of a piece");
    has_str(p[0].entities,
            "[{\"type\":\"bold\",\"offset\":0,\"length\":2},{\"type\":\"text_link\","
            "\"offset\":3,\"length\":1,\"url\":\"https://a.test/",
            "the entities of a piece as Telegram defines them");
    p = tc_pieces(t, TC_TEXT(MD("```c\nint a;\n```\n"), .form = TC_TELEGRAM), &n);
    is_str(p[0].entities, "[{\"type\":\"pre\",\"offset\":0,\"length\":6,\"language\":\"c\"}]",
           "  a language");
    p = tc_pieces(t, TC_TEXT(MD("x"), .form = TC_TELEGRAM), &n);
    is_str(p[0].entities, "[]", "plain text has no entities");
    p = tc_pieces(t, TC_TEXT(MD("**hi**"), .form = TC_MRKDWN), &n);
    ok(p && strstr(p[0].text, "*hi*") && !p[0].entities, "mrkdwn has markup and no entities");
    p = tc_pieces(t, TC_TEXT(MD("**hi**"), .form = TC_PLAIN), &n);
    is_str(p[0].text, "hi", "the plain form has no markup");
    p = tc_pieces(t, TC_TEXT(MD("**hi**"), .flags = TC_VERBATIM), &n);
    is_str(p[0].text, "**hi**", "the verbatim form is not parsed as Markdown");
    p = tc_pieces(t, TC_TEXT(MD("hm"), .form = TC_TELEGRAM, .flags = TC_FOLDED), &n);
    has_str(p[0].entities, "expandable_blockquote", "folded");
}

static void test_long_text(struct tc_turn *t)
{
    char text[3000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 10 == 9 ? ' ' : 'w';
    size_t n;
    const struct tc_piece *const p =
        tc_pieces(t, TC_TEXT(.markdown = text, .len = sizeof text, .units = 1000), &n);
    bool fit = p && n >= 3;
    for (size_t i = 0; fit && i < n; i++)
        fit = p[i].len > 0 && p[i].len <= 1000;
    ok(fit, "a long text is split into pieces that fit");
    ok(!tc_pieces(t, TC_TEXT(MD(" \n")), &n) && n == 0,
       "tc_pieces of an invisible text returns NULL");
    actor_logged();
    ok(!tc_pieces(t, TC_TEXT(.form = (enum tc_form)9), &n),
       "tc_pieces with an unknown form returns NULL");
    has_str(actor_logged(), "tc_pieces: unknown form", "an unknown form is logged");
    is_int((long long)tc_settled(t, "one\n\ntw", 7), 5, "tc_settled");
    is_int((long long)tc_settled(t, NULL, 0), 0, "tc_settled of NULL");
}

static void test_other_forms(struct tc_turn *t)
{
    size_t n;
    const struct tc_piece *p =
        tc_pieces(t, TC_TEXT(MD("# **a** <b>\n\n|c|\n|---|\n"), .form = TC_HTML), &n);
    ok(p && n == 1 && !p[0].entities, "HTML has no entities");
    is_str(p[0].text,
           "<h1><strong>a</strong> &lt;b&gt;</h1><table><thead><tr><th>c</th></tr></thead></table>",
           "HTML");
    p = tc_pieces(t,
                  TC_TEXT(MD("# a\n\n|c|\n|---|\n"), .form = TC_COMMONMARK,
                          .flags = TC_NO_TABLES | TC_NO_HEADINGS),
                  &n);
    is_str(p[0].text, "**a**\n\n```\nc\n-\n```", "CommonMark without tables and headings");
    p = tc_pieces(t,
                  TC_TEXT(MD("one *two* [x](https://a.b/)"), .form = TC_TERMINAL, .columns = 8,
                          .flags = TC_STYLED | TC_LINKED),
                  &n);
    is_str(p[0].text,
           "one \033[0;3mtwo\033[0m\n\033]8;;https://a.b/\033\\\033[0;4mx\033]8;;\033\\\033[0m",
           "lines of a terminal");
}

/* 300 characters of three bytes, in messages of 150. */
static size_t count_pieces(struct tc_turn *t, enum tc_unit unit, size_t size)
{
    char text[3 * 300];
    for (size_t i = 0; i < sizeof text; i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    struct tc_text given =
        *TC_TEXT(.markdown = text, .len = sizeof text, .units = 150, .unit = unit);
    given.size = size;
    size_t n;
    tc_pieces(t, &given, &n);
    return n;
}

static void test_units(struct tc_turn *t)
{
    const size_t size = sizeof(struct tc_text);
    is_int((long long)count_pieces(t, TC_UNIT_UTF16, size), 2, "in UTF-16");
    is_int((long long)count_pieces(t, TC_UNIT_CODEPOINTS, size), 2, "in code points");
    is_int((long long)count_pieces(t, TC_UNIT_BYTES, size), 6, "in bytes");
    is_int((long long)count_pieces(t, TC_UNIT_BYTES, offsetof(struct tc_text, unit)), 2,
           "a plugin for 1.4 has no unit");
    actor_logged();
    is_int((long long)count_pieces(t, (enum tc_unit)7, size), 0, "an unknown unit is refused");
    has_str(actor_logged(), "tc_pieces: unknown unit", "an unknown unit is logged");
}

static void test_text(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_deliver(in, t, TC_START, test_forms);
    actor_deliver(in, t, TC_START, test_long_text);
    actor_deliver(in, t, TC_START, test_other_forms);
    actor_deliver(in, t, TC_START, test_units);
    instance_free(in);
}

/* ---- stored texts ---- */

static void store(struct tc_turn *t)
{
    struct tc_instance *const inst = t->inst;
    is_str(tc_load(inst, "cursor"), "5", "tc_load returns a text that was stored before");
    ok(!tc_load(inst, "other") && !tc_load(inst, NULL), "tc_load of an unknown key returns NULL");
    is_int(tc_store(inst, "cursor", "6"), 0, "tc_store");
    is_int(tc_store(inst, "!room:a.b/é", ""), 0, "tc_store accepts any characters in a key");
    is_int(tc_store(inst, "gone", "x") | tc_store(inst, "gone", NULL), 0, "tc_store removes a key");
    is_str(tc_load(inst, "cursor"), "6", "tc_load");
    is_str(tc_load(inst, "!room:a.b/é"), "", "tc_load of an empty text");
    ok(!tc_load(inst, "gone"), "tc_load of a removed key returns NULL");
    is_int((long long)actor_told.len, 0, "the host is not called before the callback has returned");
}

static void store_wrong(struct tc_turn *t)
{
    struct tc_instance *const inst = t->inst;
    char *const large = xcalloc(1, (64 << 10) + 2);
    memset(large, 'x', (64 << 10) + 1);
    actor_logged();
    is_int(tc_store(inst, "", "x"), -1, "an empty key is refused");
    is_int(tc_store(inst, NULL, "x"), -1, "a key of NULL is refused");
    is_int(tc_store(inst, "a\nb", "x"), -1, "a key of two lines is refused");
    is_int(tc_store(inst, "a", large), -1, "a text above the limit is refused");
    has_str(actor_logged(), "tc_store: the text must be UTF-8 of at most 64 KiB",
            "a text above the limit is logged");
    large[64 << 10] = '\0';
    is_int(tc_store(inst, "a", large), 0, "a text of the largest size is accepted");
    char key[16];
    int stored = 0;
    for (int i = 0; i < 70; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        stored += tc_store(inst, key, "x") == 0;
    }
    is_int(stored, 61, "the number of keys is limited to 64");
    has_str(actor_logged(), "tc_store: too many keys are stored (limit 64)",
            "an additional key is logged");
    is_int(tc_store(inst, "key-0", "y") | tc_store(inst, "key-1", NULL), 0,
           "existing keys can be changed when the limit is reached");
    is_int(tc_store(inst, "one-more", "x"), 0, "a removed key makes space for another one");
    free(large);
}

static void store_again(struct tc_turn *t)
{
    is_int(tc_store(t->inst, "cursor", "6"), 0, "tc_store accepts an unchanged text");
}

static void store_back(struct tc_turn *t)
{
    is_int(tc_store(t->inst, "cursor", "7"), 0, "tc_store accepts another text");
    is_int(tc_store(t->inst, "cursor", "6"), 0, "tc_store accepts the previous text again");
}

static void test_store(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    instance_load_stored(in, "cursor", "5");
    buf_reset(&actor_told);
    actor_deliver(in, t, TC_START, store);
    is_str(actor_told.p, "store:cursor:6;store:!room:a.b/é:;store:gone:-;",
           "the host gets the stored texts");
    buf_reset(&actor_told);
    actor_deliver(in, t, TC_START, store_again);
    is_int((long long)actor_told.len, 0, "an unchanged text is not written");
    actor_deliver(in, t, TC_START, store_back);
    is_str(actor_told.p, "store:cursor:6;", "a text is written if it was changed in between");
    buf_reset(&actor_told);
    actor_deliver(in, t, TC_START, store_wrong);
    has_str(actor_told.p, "store:key-1:-;", "the host gets the other changes");
    buf_reset(&actor_told);
    instance_free(in);
}

/* ---- people ---- */

static void submit(struct tc_turn *t)
{
    struct tc_receipt r;
    const char *const paths[] = {"/tmp/f"}, *const names[] = {"log", "tg"};
    ok(tc_submit(t->inst->lobby,
                 TC_INBOUND(.id = "m1", .chat = "c1", .user = "u1", .text = "hello",
                            .instances = names, .instance_count = 2),
                 &r) == TC_QUEUED,
       "tc_submit returns the response of the host");
    is_str(r.turn, "t9", "tc_submit returns the turn");
    is_str(r.answer, "wait a bit", "tc_submit returns the text for the user");
    actor_answers = false;
    ok(tc_submit(
           t, TC_INBOUND(.id = "m2", .chat = "c1", .user = "u1", .files = paths, .file_count = 1),
           &r) == TC_KNOWN,
       "a message with a file needs no text");
    ok(!r.turn && !r.answer, "the response has no texts");
    ok(tc_cancel(t, "t9", "u1", NULL) == TC_KNOWN, "tc_cancel accepts no receipt");
    actor_answers = true;
    is_str(actor_told.p, "submit:one:m1:c1:hello:0:+log:+tg;submit:one:m2:c1::1;cancel:t9:u1;",
           "the host got the calls");
}

/* Connectors have no texts of their own for the result of a stop or of an answer. */
static void test_default_texts(struct tc_turn *t)
{
    struct tc_turn *const lobby = t->inst->lobby;
    struct tc_receipt r;
    actor_answers = false;
    tc_cancel(lobby, "t9", "u1", &r);
    is_str(r.answer, "This turn has already ended.",
           "tc_cancel of a turn that has ended returns a text");
    tc_cancel(lobby, NULL, "u1", &r);
    is_str(r.answer, "This is not a turn that can be stopped.",
           "an invalid tc_cancel returns a text");
    tc_answer(lobby, TC_DECISION(.ticket = "t", .choice = "allow", .user = "u", .chat = "c"), &r);
    is_str(r.answer, "This request is already closed.",
           "tc_answer of a closed request returns a text");
    tc_answer(lobby, TC_DECISION(.ticket = NULL), &r);
    is_str(r.answer, "This answer is not valid.", "an invalid tc_answer returns a text");
    actor_answers = true;
    tc_answer(lobby, TC_DECISION(.ticket = "t", .choice = "allow", .user = "u", .chat = "c"), &r);
    is_str(r.answer, "wait a bit", "a text of the host is not replaced");
}

/* A plugin for an older version does not know newer results. */
static void submit_as(struct tc_turn *t, uint32_t minor, enum tc_accepted of_host,
                      enum tc_accepted wanted)
{
    actor_loaded.plugin.minor = minor;
    actor_accepts = of_host;
    is_int(tc_submit(t->inst->lobby,
                     TC_INBOUND(.id = "m1", .chat = "c1", .user = "u1", .text = "hello"), NULL),
           wanted, "1.%u: the result of a message that the host accepts as %d", minor,
           (int)of_host);
}

static void submit_during_turn(struct tc_turn *t)
{
    submit_as(t, 2, TC_GIVEN, TC_QUEUED);
    submit_as(t, 2, TC_INTERRUPT, TC_QUEUED);
    submit_as(t, 2, TC_FULL, TC_FULL);
    submit_as(t, 3, TC_GIVEN, TC_GIVEN);
    submit_as(t, 3, TC_INTERRUPT, TC_INTERRUPT);
    submit_as(t, 3, TC_INVALID, TC_DENIED);
    submit_as(t, 4, TC_INVALID, TC_INVALID);
    actor_accepts = TC_QUEUED;
}

static void submit_wrong(struct tc_turn *t)
{
    static const char *const no_paths[] = {NULL}, *const no_name[] = {""};
    static char long_name[80];
    memset(long_name, 'n', sizeof long_name - 1);
    const char *const long_names[] = {long_name};
    const struct {
        const char *why;
        struct tc_inbound in;
    } rows[] = {
        {"the id is missing", {.chat = "c", .user = "u", .text = "x"}},
        {"the chat is missing", {.id = "1", .user = "u", .text = "x"}},
        {"the user is missing", {.id = "1", .chat = "c", .user = "", .text = "x"}},
        {"the text is missing", {.id = "1", .chat = "c", .user = "u"}},
        {"the text is missing, too long or not UTF-8",
         {.id = "1", .chat = "c", .user = "u", .text = "\xc3"}},
        {"the route is not JSON", {.id = "1", .chat = "c", .user = "u", .text = "x", .route = "{"}},
        {"too many files",
         {.id = "1", .chat = "c", .user = "u", .files = no_paths, .file_count = 99}},
        {"a file has no path",
         {.id = "1", .chat = "c", .user = "u", .files = no_paths, .file_count = 1}},
        {"too many instances (limit: 100)",
         {.id = "1",
          .chat = "c",
          .user = "u",
          .text = "x",
          .instances = no_name,
          .instance_count = 101}},
        {"the list of instances is NULL",
         {.id = "1", .chat = "c", .user = "u", .text = "x", .instance_count = 1}},
        {"the name of an instance is missing",
         {.id = "1",
          .chat = "c",
          .user = "u",
          .text = "x",
          .instances = no_name,
          .instance_count = 1}},
        {"the name of an instance is missing, too long",
         {.id = "1",
          .chat = "c",
          .user = "u",
          .text = "x",
          .instances = long_names,
          .instance_count = 1}},
    };
    actor_loaded.plugin.minor = 3;
    ok(tc_submit(t, TC_INBOUND(.id = NULL), NULL) == TC_DENIED,
       "1.3: the result of an invalid message is TC_DENIED");
    actor_loaded.plugin.minor = 4;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tc_inbound in = rows[i].in;
        in.size = sizeof in;
        actor_logged();
        ok(tc_submit(t, &in, NULL) == TC_INVALID,
           "the result of an invalid message is TC_INVALID: %s", rows[i].why);
        has_str(actor_logged(), rows[i].why, "  told");
    }
    ok(tc_cancel(t, NULL, "u", NULL) == TC_INVALID, "tc_cancel without a turn is invalid");
    ok(tc_answer(t, TC_DECISION(.ticket = "t", .choice = "allow", .user = "u"), NULL) == TC_INVALID,
       "tc_answer without a chat is invalid");
    ok(t->inst->host->submit(t, NULL, NULL) == TC_INVALID,
       "tc_submit without a message is invalid");
}

static void test_people(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_deliver(in, t, TC_START, submit);
    actor_deliver(in, t, TC_START, submit_during_turn);
    actor_deliver(in, t, TC_START, test_default_texts);
    buf_reset(&actor_told);
    actor_deliver(in, t, TC_START, submit_wrong);
    is_int((long long)actor_told.len, 0, "the host got none of the invalid calls");
    instance_free(in);
}

/* ---- routes, hits, sockets ---- */

static void send_one(struct tc_turn *t)
{
    tc_http(t, TC_HTTP(.url = "https://x.test/"));
}

static char answered[64];

static void record_answer(void *arg, const struct tc_answer *a)
{
    (void)arg;
    if (a)
        snprintf(answered, sizeof answered, "%d %.*s", a->status, (int)a->body_len, a->body);
    else
        snprintf(answered, sizeof answered, "none after %zu batches", actor_n_batches);
}

static void route(struct tc_turn *t)
{
    is_int(tc_route(t->inst, "/events"), 0, "tc_route");
    is_int(tc_route(t->inst, ""), 0, "tc_route of the root of the instance");
    static const char *const wrong[] = {"events", "/a/../b", "/a%20b", "//x", "/a?b"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        is_int(tc_route(t->inst, wrong[i]), -1, "tc_route refuses \"%s\"", wrong[i]);
    is_int(t->inst->host->route(NULL, "/x"), -1, "tc_route without an instance fails");
}

static void answer_wrong(struct tc_turn *t)
{
    struct tc_instance *const in = t->inst;
    is_int(tc_hit_answer(in, 1, NULL), -1, "tc_hit_answer without a response fails");
    is_int(tc_hit_answer(in, 1, &(struct tc_answer){.status = 99}), -1,
           "tc_hit_answer with an invalid status fails");
    is_int(tc_hit_answer(in, 1, &(struct tc_answer){.content_type = "a\nb"}), -1,
           "tc_hit_answer with a content type of two lines fails");
    is_int(tc_hit_answer(in, 1, &(struct tc_answer){.body = "x"}), 0,
           "tc_hit_answer with a valid response succeeds");
    has_str(actor_told.p, "answer:1:200:1;", "the host gets the response");
}

static void test_hits(void)
{
    struct instance *const in = actor_make(&actor_host);
    actor_inside = route;
    instance_init(in);
    actor_inside = NULL;
    is_str(actor_told.p, "route:/events;route:;", "the host has the routes");
    const struct tc_hit hit = {.method = "POST", .path = "/events", .query = "", .body = ""};
    is_int(instance_call_on_hit(in, &hit, record_answer, NULL), 0, "a hit is delivered");
    is_str(answered, "202 POST /events",
           "the response is passed on while the memory of the callback is valid");
    actor_inside = answer_wrong;
    instance_call_on_hit(in, &hit, record_answer, NULL);
    actor_verdict = -1;
    actor_inside = send_one;
    is_int(instance_call_on_hit(in, &hit, record_answer, NULL), -1, "a hit whose callback fails");
    is_str(answered, "none after 1 batches",
           "a hit whose callback fails has no response; its requests are passed on before");
    actor_loaded.sink.on_hit = NULL;
    is_int(instance_call_on_hit(in, &hit, record_answer, NULL), -1,
           "a hit without a callback fails");
    instance_free(in);
}

static void set_secrets(struct tc_turn *t)
{
    struct tc_instance *const in = t->inst;
    is_int(tc_secret(in, "a.b:c-D_1", "eight-by"), 0, "tc_secret");
    is_int(tc_secret(in, "a.b:c-D_1", NULL), 0, "tc_secret removes a secret");
    const struct {
        const char *name, *value;
    } wrong[] = {{NULL, "12345678"},    {"", "12345678"},     {"a}", "12345678"}, {"a", "1234567"},
                 {"a", "1234567\r\nX"}, {"a", "1234567\xff"}, {"a b", NULL}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        is_int(tc_secret(in, wrong[i].name, wrong[i].value), -1,
               "an invalid secret is refused: %zu", i);
    char *const big = xcalloc(1, (8 << 10) + 2);
    memset(big, 'x', (8 << 10) + 1);
    is_int(tc_secret(in, "a", big), -1, "a secret above the limit is refused");
    free(big);
    int set = 0;
    for (; set < 1000 && tc_secret(in, tc_sprint(t, "n%d", set), "12345678") == 0; set++)
        continue;
    is_int(set, 256, "the number of secrets is limited");
}

static void set_secrets_of_events(struct tc_turn *t)
{
    struct tc_instance *const in = t->inst;
    tc_secret_of(in, "press", "12345678");
    is_int(tc_secret_of(in, "press", "123456789"), 0, "tc_secret_of replaces a value");
    is_int(tc_secret_of(in, "press", NULL), -1, "tc_secret_of requires a value");
    for (int i = 0; i < 100; i++)
        tc_secret_of(in, tc_sprint(t, "press%d", i), "12345678");
    has_str(actor_told.p, "secret:press0:12345678;", "a secret of an event is kept");
    ok(strstr(actor_told.p, "secret:press99:12345678;secret:press:-;") != NULL,
       "a secret of an event is removed after 100 newer ones");
    ok(!strstr(actor_told.p, "secret:press0:-;"), "other secrets of events are kept");
}

static void test_secrets_of_events(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_deliver(in, t, TC_START, set_secrets_of_events);
    instance_free(in);
}

static void test_run_time_secrets(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_deliver(in, t, TC_START, set_secrets);
    ok(strncmp(actor_told.p, "secret:a.b:c-D_1:eight-by;secret:a.b:c-D_1:-;secret:n0:", 55) == 0,
       "the host gets the valid secrets");
    instance_turn_free(t);
    instance_free(in);
    CLEANUP_BUF struct buf text = {0};
    log_redact(&text, (struct str){"12345678", 8});
    is_str(text.p, "12345678", "secrets of an instance that has ended are not masked");
}

static int64_t socket_number;

static void open_socket(struct tc_turn *t)
{
    socket_number = tc_socket_open(t->inst, TC_SOCKET(.url = "wss://x.test/", .ping_ms = 7));
    ok(socket_number > 0, "tc_socket_open");
    is_int(tc_socket_open(t->inst, TC_SOCKET(.url = "https://x.test/")), -1,
           "a URL with https: is refused");
    is_int(tc_socket_send(t->inst, socket_number, "early", 5), -1,
           "sending over a socket that is not open fails");
}

static void send_frame(struct tc_turn *t)
{
    is_int(tc_socket_send(t->inst, socket_number, "hello", 5), 0, "tc_socket_send");
    is_int(tc_socket_send(t->inst, socket_number, "\xff", 1), -1,
           "sending bytes that are not UTF-8 fails");
    is_int(tc_socket_send(t->inst, 99, "x", 1), -1, "sending over an unknown socket fails");
    char *const big = xcalloc(1, 1 << 20);
    memset(big, 'x', 1 << 20);
    int sent = 0;
    while (sent < 10 && tc_socket_send(t->inst, socket_number, big, 1 << 20) == 0)
        sent++;
    is_int(sent, 3, "the number of unsent frames is limited");
    free(big);
    tc_socket_close(t->inst, socket_number);
    tc_socket_close(t->inst, socket_number);
    is_int(tc_socket_send(t->inst, socket_number, "x", 1), -1,
           "sending after tc_socket_close fails");
}

static void frame(struct instance *in, enum tc_socket_event event, const char *text,
                  void (*fn)(struct tc_turn *))
{
    actor_inside = fn;
    instance_call_on_frame(in, &(struct tc_frame){socket_number, event, text, strlen(text)});
    actor_inside = NULL;
}

static void test_sockets(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_deliver(in, t, TC_START, open_socket);
    frame(in, TC_SOCKET_OPEN, "", send_frame);
    frame(in, TC_SOCKET_CLOSED, "bye", NULL);
    frame(in, TC_SOCKET_TEXT, "late", NULL);
    is_str(actor_told.p,
           "open:1:wss://x.test/:7;frame:1:0:;send:1:5;send:1:1048576;send:1:1048576;"
           "send:1:1048576;close:1;frame:1:2:bye;",
           "the host gets the calls, and none after the end of a socket");
    instance_free(in);
}

/* ---- held events ---- */

static int64_t held;

static void hold(struct tc_turn *t)
{
    held = tc_hold(t);
}

static void post_and_release(struct tc_turn *t)
{
    tc_http(t->inst->lobby, TC_HTTP(.url = "https://a.example/lobby"));
    tc_http(t, TC_HTTP(.url = "https://a.example/turn", .flags = TC_DURABLE));
    is_int(tc_release(t, held, NULL), 0, "an event is released");
}

static void post_and_reject(struct tc_turn *t)
{
    tc_http(t, TC_HTTP(.url = "https://a.example/turn", .flags = TC_DURABLE));
    is_int(tc_release(t, held, "no room"), 0, "an event is released with an error");
}

static void check_batch(size_t i, enum batch_settlement settles, bool failed, const char *url)
{
    const struct callback_batch *const b = actor_batches[i];
    is_int(b->settles, settles, "batch %zu: what it settles", i);
    is_int(b->failed, failed, "the batch has its failure");
    is_int(b->count, url != NULL, "the batch has its number of requests");
    if (b->count && url)
        is_str(b->requests[0]->http.url, url, "the batch has its request");
}

static void test_held(void)
{
    struct channel_callbacks host = actor_host;
    host.has_process = true;
    struct instance *const in = actor_make(&host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_loaded.plugin.flags |= TC_DELIVERS;
    actor_deliver(in, t, TC_FINAL, hold);
    actor_forget_batches();
    actor_deliver(in, t, TC_START, post_and_release);
    is_int(actor_n_batches, 2, "two batches");
    check_batch(0, BATCH_OUTCOME, false, "https://a.example/turn"); /* replaces the event */
    check_batch(1, BATCH_NOTHING, false, "https://a.example/lobby");
    actor_deliver(in, t, TC_FINAL, hold);
    actor_forget_batches();
    actor_deliver(in, t, TC_START, post_and_reject);
    is_int(actor_n_batches, 2, "two batches");
    check_batch(0, BATCH_OUTCOME, true, NULL);
    check_batch(1, BATCH_NOTHING, false, "https://a.example/turn"); /* replaces nothing */
    actor_forget_batches();
    instance_free(in);
}

int main(void)
{
    plan_lazy();
    actor_begin_log();
    test_text();
    test_store();
    test_people();
    test_hits();
    test_run_time_secrets();
    test_secrets_of_events();
    test_sockets();
    test_held();
    actor_end();
}
