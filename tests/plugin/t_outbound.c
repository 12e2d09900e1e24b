/* SPDX-License-Identifier: MIT
 * Tests of requests as they are copied between threads and stored on disk. */
#include "plugin/outbound.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tap/tap.h"

static const char *why;

static struct outbound_request *make(const struct tc_http *http)
{
    return outbound_request_new(7, "t1", http, &why);
}

static void test_copy(void)
{
    char url[] = "https://example.org/{option:token}/x", name[] = "X-A", value[] = "b";
    const struct tc_header headers[] = {{name, value}};
    struct outbound_request *const l =
        make(TC_HTTP(.url = url, .headers = headers, .header_count = 1, .body = "{\"a\":1}",
                     .lane = "c", .tag = "first"));
    memset(url, '#', sizeof url - 1);
    memset(name, '#', sizeof name - 1);
    memset(value, '#', sizeof value - 1);
    is_str(l->http.url, "https://example.org/{option:token}/x", "the URL is a copy");
    is_str(l->http.headers[0].name, "X-A", "the name of a header is copied");
    is_str(l->http.headers[0].value, "b", "the value of a header is copied");
    is_str(l->turn, "t1", "the request has its turn");
    is_str(l->http.method, "POST", "the default method is POST");
    is_int((long long)l->http.body_len, 7, "a body without a length ends at its NUL");
    ok(!l->http.key && !l->http.content_type, "members that were not given are missing");
    outbound_request_unref(l);
    struct outbound_request *const bare = make(TC_HTTP(.url = "https://example.org/"));
    ok(!bare->http.body && bare->http.body_len == 0, "a request without a body");
    is_str(bare->http.tag, "", "a request without a tag");
    outbound_request_unref(bare);
}

/* The structure of an older plugin ends before newer members. */
static void test_older_plugin(void)
{
    struct tc_http http = {.size = offsetof(struct tc_http, timeout_ms),
                           .url = "https://example.org/",
                           .tag = "not known then"};
    struct outbound_request *const l = make(&http);
    is_str(l->http.tag, "", "members that an older plugin lacks are not read");
    outbound_request_unref(l);
}

static char *filled(size_t len)
{
    char *const s = xmalloc(len + 1);
    memset(s, 'x', len);
    s[len] = '\0';
    return s;
}

static void check_refused(const struct tc_http *http, const char *wanted)
{
    struct outbound_request *const l = make(http);
    ok(!l, "refused: %s", wanted);
    has_str(why ? why : "", wanted, "the error names the reason");
    outbound_request_unref(l);
}

static void test_caps(void)
{
#define URL "https://example.org/"
    char *const k8 = filled(8193), *const b512 = filled(513), *const k64 = filled(65537),
                *const k256 = filled((256 << 10) + 1);
    char *const m15 = filled(OUTBOUND_MAX_DURABLE + 1);
    const struct tc_header long_header[] = {{"A", k64}}, no_value[] = {{"A", NULL}};
    struct tc_header many[65];
    for (size_t i = 0; i < 65; i++)
        many[i] = (struct tc_header){"A", "b"};
    check_refused(TC_HTTP(.body = "x"), "the URL is missing");
    check_refused(TC_HTTP(.url = k8), "the URL is too long");
    check_refused(TC_HTTP(.url = "https://\xff/"), "the URL is too long or not UTF-8");
    check_refused(TC_HTTP(.url = URL, .lane = b512), "the lane");
    check_refused(TC_HTTP(.url = URL, .key = b512), "the key");
    check_refused(TC_HTTP(.url = URL, .tag = k256), "the tag");
    check_refused(TC_HTTP(.url = URL, .method = "\xc3"), "the method");
    check_refused(TC_HTTP(.url = URL, .content_type = "\xc3"), "the content type");
    check_refused(TC_HTTP(.url = URL, .headers = long_header, .header_count = 1), "the headers");
    check_refused(TC_HTTP(.url = URL, .headers = no_value, .header_count = 1), "no value");
    check_refused(TC_HTTP(.url = URL, .headers = many, .header_count = 65), "too many headers");
    check_refused(TC_HTTP(.url = URL, .priority = (enum tc_priority)9), "priority");
    check_refused(TC_HTTP(.url = URL, .delay_ms = -1), "negative");
    check_refused(TC_HTTP(.url = URL, .body = "x", .body_len = ((size_t)64 << 20) + 1), "the body");
    check_refused(TC_HTTP(.url = URL, .body = m15, .flags = TC_DURABLE), "the body");
    struct outbound_request *const big = make(TC_HTTP(.url = URL, .body = m15));
    ok(big != NULL, "a request that is not durable may be larger");
    outbound_request_unref(big);
    free(k8);
    free(b512);
    free(k64);
    free(k256);
    free(m15);
}

static struct outbound_request *full(void)
{
    static const struct tc_header headers[] = {{"Authorization", "Bearer {option:token}"},
                                               {"X-\"Q\"", "a\\b\tc"}};
    return make(TC_HTTP(.url = "https://{option:base}/sendMessage", .method = "PUT",
                        .headers = headers, .header_count = 2, .content_type = "text/plain",
                        .body = "line\nnext\0zero \xff", .body_len = 16, .lane = "chat \xc3\xa9",
                        .priority = TC_P_NOTICE, .key = "m1", .rates = 0x80000001u,
                        .flags = TC_DURABLE | TC_IDEMPOTENT, .timeout_ms = 5000,
                        .max_age_ms = 60000, .delay_ms = 9, .tag = "{\"step\":\"rich\"}\n"));
}

#define ZEROS "a\0b\r\n--x"

static struct outbound_request *with_parts(void)
{
    static const struct tc_part parts[] = {
        {.name = "chat \"7\"", .data = "7"},
        {.name = "empty", .data = ""},
        {.name = "doc", .file_name = "a\r\nb", .type = "text/plain", .data = ZEROS, .len = 8},
    };
    return make(TC_HTTP(.url = "https://a/", .parts = parts, .part_count = 3, .tag = "t",
                        .flags = TC_DURABLE));
}

static void test_parts(void)
{
    CLEANUP_BUF struct buf record = {0}, again = {0};
    struct outbound_request *const l = with_parts();
    is_int((long long)outbound_content_size(l), 9, "the size of a request with parts");
    outbound_request_pack(&record, l);
    struct outbound_request *const back =
        outbound_unpack(12, "t1", (struct str){record.p, record.len}, &why);
    if (!ok(back != NULL, "a request with parts is unpacked"))
        bail("%s", why);
    const struct tc_part *const p = back->http.parts;
    ok(back->http.part_count == 3 && strcmp(p[0].name, "chat \"7\"") == 0 && !p[0].file_name &&
           !p[0].type && strcmp(p[2].file_name, "a\r\nb") == 0 &&
           strcmp(p[2].type, "text/plain") == 0,
       "the names of the parts");
    is_mem(p[0].data, p[0].len, "7", 1, "the text of the first part");
    is_int((long long)p[1].len, 0, "an empty part");
    is_mem(p[2].data, p[2].len, ZEROS, 8, "the bytes of the last part");
    outbound_request_pack(&again, back);
    is_mem(again.p, again.len, record.p, record.len,
           "packing the request again yields the same record");
    outbound_request_unref(back);
    outbound_request_unref(l);
}

/* Parts without a name are not sent, so the request may have a body. */
static void test_kept_parts(void)
{
    static const struct tc_part parts[] = {{.file_name = "a", .data = ZEROS, .len = 8},
                                           {.data = "second"}};
    CLEANUP_BUF struct buf record = {0};
    struct outbound_request *const l =
        make(TC_HTTP(.url = "https://a/", .parts = parts, .part_count = 2, .body = "{}", .tag = "t",
                     .content_type = "text/plain", .flags = TC_DURABLE));
    is_int((long long)outbound_content_size(l), 16, "the size of a body and of kept parts");
    ok(!outbound_parts_are_sent(&l->http), "kept parts are not sent");
    outbound_request_pack(&record, l);
    struct outbound_request *const back =
        outbound_unpack(12, "t1", (struct str){record.p, record.len}, &why);
    if (!ok(back != NULL, "a request with a body and kept parts is unpacked"))
        bail("%s", why);
    const struct tc_part *const p = back->http.parts;
    is_mem(back->http.body, back->http.body_len, "{}", 2, "the body of the request");
    ok(back->http.part_count == 2 && !p[0].name && strcmp(p[0].file_name, "a") == 0 && !p[1].name,
       "the kept parts have no names");
    is_mem(p[0].data, p[0].len, ZEROS, 8, "the bytes of the first part");
    is_mem(p[1].data, p[1].len, "second", 6, "the bytes of the second part");
    outbound_request_unref(back);
    outbound_request_unref(l);
}

static void test_parts_refused(void)
{
    char *const name = filled(513), *const m15 = filled(OUTBOUND_MAX_DURABLE);
    struct tc_part many[33], big[2] = {{.name = "a", .data = m15}, {.name = "b", .data = "x"}};
    for (size_t i = 0; i < 33; i++)
        many[i] = (struct tc_part){.name = "a", .data = "b"};
#define PARTS(n, ...) .url = "https://a/", .part_count = (n), .parts = (__VA_ARGS__)
    check_refused(TC_HTTP(PARTS(33, many)), "too many parts");
    check_refused(TC_HTTP(PARTS(1, NULL)), "too many parts");
    check_refused(TC_HTTP(PARTS(1, many), .body = "x"), "has no body");
    check_refused(TC_HTTP(PARTS(1, many), .content_type = "x"), "no content type");
    check_refused(TC_HTTP(PARTS(1, &(struct tc_part){.name = "a"})), "a part has no data");
    check_refused(TC_HTTP(PARTS(1, &(struct tc_part){.file_name = "a"})), "a part has no data");
    check_refused(TC_HTTP(PARTS(1, &(struct tc_part){name, .data = "a"})), "too long or not UTF-8");
    check_refused(TC_HTTP(PARTS(1, &(struct tc_part){"a", "\xff", .data = "a"})), "not UTF-8");
    check_refused(TC_HTTP(PARTS(1, &(struct tc_part){"a", "b", "c\r\nd", "e", 0})),
                  "control character");
    check_refused(TC_HTTP(PARTS(2, big), .flags = TC_DURABLE), "the parts are too large");
    big[1].name = NULL;
    check_refused(TC_HTTP(PARTS(2, big), .body = "x"), "has no body");
    big[0].name = NULL;
    check_refused(TC_HTTP(PARTS(1, big), .body = "x", .flags = TC_DURABLE),
                  "the parts are too large");
    struct outbound_request *const loose = make(TC_HTTP(PARTS(2, big)));
    ok(loose != NULL, "a request that is not durable may have larger parts");
    outbound_request_unref(loose);
    free(name);
    free(m15);
}

static void test_round_trip(void)
{
    CLEANUP_BUF struct buf record = {0}, again = {0};
    struct outbound_request *const l = full();
    outbound_request_pack(&record, l);
    struct outbound_request *const back =
        outbound_unpack(12, "t1", (struct str){record.p, record.len}, &why);
    if (!ok(back != NULL, "a stored request is unpacked"))
        bail("%s", why);
    is_int((long long)back->id, 12, "the request gets the given number");
    is_str(back->turn, "t1", "the request has its turn");
    is_mem(back->http.body, back->http.body_len, "line\nnext\0zero \xff", 16,
           "the body is unchanged");
    is_str(back->http.headers[1].value, "a\\b\tc", "the headers are unchanged");
    is_int(back->http.rates, 0x80000001u, "the rates are unchanged");
    outbound_request_pack(&again, back);
    is_mem(again.p, again.len, record.p, record.len,
           "nothing else is lost: packed again it is"
           " the same");
    has_str(record.p, "{option:token}", "a placeholder is stored instead of the secret");
    outbound_request_unref(back);
    outbound_request_unref(l);

    struct outbound_request *const bare = make(TC_HTTP(.url = URL)), *bare_back;
    buf_reset(&record);
    outbound_request_pack(&record, bare);
    bare_back = outbound_unpack(2, "", (struct str){record.p, record.len}, &why);
    ok(bare_back && !bare_back->http.body && !bare_back->http.lane && !bare_back->http.key,
       "members that were not given are missing after unpacking");
    outbound_request_unref(bare);
    outbound_request_unref(bare_back);
}

static bool is_refused(const char *p, size_t len)
{
    why = NULL;
    struct outbound_request *const l = outbound_unpack(2, "t", (struct str){p, len}, &why);
    const bool refused = !l && why;
    outbound_request_unref(l);
    return refused;
}

static void test_broken(void)
{
    static const char *const records[] = {
        "",
        "\n",
        "{}\n",
        "[]\n",
        "{\"v\":2,\"url\":\"https://a/\"}\n",
        "{\"v\":1}\n",
        "{\"v\":1,\"url\":7}\n",
        "{\"v\":1,\"url\":\"https://a/\",\"priority\":4}\n",
        "{\"v\":1,\"url\":\"https://a/\",\"rates\":4294967296}\n",
        "{\"v\":1,\"url\":\"https://a/\",\"flags\":-1}\n",
        "{\"v\":1,\"url\":\"https://a/\",\"headers\":[[\"a\"]]}\n",
        "{\"v\":1,\"url\":\"https://a/\",\"headers\":[3]}\n{",
        "{\"v\":1,\"url\":\"https://a/\",\"body\":3}\nab",
        "{\"v\":1,\"url\":\"https://a/\",\"body\":-2}\n",
        "{\"v\":1,\"url\":\"https://a/\"}\nmore",
        "{\"v\":1,\"url\":\"https://a/\"}",
        "{\"v\":1,\"url\":\"https://a/\",\"parts\":[[\"a\",null,null,1]]}\nb",
        "{\"v\":2,\"url\":\"https://a/\",\"parts\":[[\"a\",null,null,2]]}\nb",
        "{\"v\":2,\"url\":\"https://a/\",\"parts\":[[\"a\",null,null,0]]}\nb",
        "{\"v\":2,\"url\":\"https://a/\",\"parts\":[[\"a\",null,null]]}\n",
        "{\"v\":2,\"url\":\"https://a/\",\"parts\":[[\"a\",null,null,-1]]}\n",
        "{\"v\":2,\"url\":\"https://a/\",\"parts\":[[null,\"f\",null,2]]}\nb",
        "{\"v\":2,\"url\":\"https://a/\",\"parts\":[7]}\nb",
        "{\"v\":2,\"url\":\"https://a/\",\"parts\":[7]}\n",
        "{\"v\":2,\"url\":\"https://a/\",\"body\":1,\"parts\":[[\"a\",null,null,1]]}\nbc",
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        ok(is_refused(records[i], strlen(records[i])),
           "a damaged record is refused with a reason: %zu", i);
    static const char later[] = "{\"v\":1,\"url\":\"https://a/\",\"new\":[{}]}\n";
    ok(!is_refused(later, sizeof later - 1), "an unknown member of a later version is ignored");
}

/* A request that was accepted can be stored again, as the same record. */
static bool can_store_again(const struct buf *record)
{
    CLEANUP_BUF struct buf first = {0}, second = {0};
    why = NULL;
    struct outbound_request *const l =
        outbound_unpack(2, "t", (struct str){record->p, record->len}, &why);
    if (!l)
        return why != NULL;
    outbound_request_pack(&first, l);
    struct outbound_request *const again =
        outbound_unpack(2, "t", (struct str){first.p, first.len}, &why);
    if (again)
        outbound_request_pack(&second, again);
    const bool same = again && first.len == second.len && !memcmp(first.p, second.p, first.len);
    outbound_request_unref(l);
    outbound_request_unref(again);
    return same;
}

/* Every prefix is refused, and a flipped bit causes no crash. */
static void test_damage(struct outbound_request *l)
{
    CLEANUP_BUF struct buf record = {0};
    unsigned taken = 0, faults = 0;
    outbound_request_pack(&record, l);
    outbound_request_unref(l);
    for (size_t len = 0; len < record.len; len++) {
        char *const cut = memcpy(xmalloc(len + 1), record.p, len); /* for the address sanitizer */
        taken += !is_refused(cut, len);
        free(cut);
    }
    is_int(taken, 0, "a truncated record is refused");
    for (size_t i = 0; i < record.len; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            record.p[i] = (char)(record.p[i] ^ 1 << bit);
            faults += !can_store_again(&record);
            record.p[i] = (char)(record.p[i] ^ 1 << bit);
        }
    is_int(faults, 0, "a record with a flipped bit is refused with a reason, or accepted");
    ok(!is_refused(record.p, record.len), "the unchanged record is accepted");
}

static void test_batch(void)
{
    struct callback_batch *const b = xcalloc(1, sizeof *b);
    struct outbound_request *const shared = full();
    b->requests = xcalloc(2, sizeof(struct outbound_request *));
    b->requests[b->count++] = outbound_request_ref(shared);
    b->requests[b->count++] = make(TC_HTTP(.url = URL));
    b->turn = xstrdup("t");
    b->memory = xstrdup("m");
    b->verdict.reason = xstrdup("r");
    callback_batch_free(b);
    is_int(atomic_load(&shared->refs), 1, "freeing a batch releases its requests");
    outbound_request_unref(shared);
    callback_batch_free(NULL);
    outbound_request_unref(NULL);
    outbound_reply_free(NULL);
}

int main(void)
{
    plan_lazy();
    test_copy();
    test_older_plugin();
    test_caps();
    test_round_trip();
    test_broken();
    test_parts();
    test_kept_parts();
    test_parts_refused();
    test_damage(full());
    test_damage(with_parts());
    test_batch();
    return 0;
}
