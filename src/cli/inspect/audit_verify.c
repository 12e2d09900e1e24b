/* SPDX-License-Identifier: MIT
 * Reads an audit log line by line and verifies its hash chain. */
#include "cli/inspect/audit_verify.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <nettle/sha2.h>

#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "event/json/json_reader.h"

/* The last member of every record, behind the bytes that the hash covers: ,"hash":"<64 hex
 * digits>"} */
static const char hash_key[] = ",\"hash\":\"";
#define HASH_LEN (sizeof hash_key - 1 + 64 + 2)

/* The members of a record that form the chain. */
struct record {
    int64_t seq;
    struct str prev; /* hex, or absent */
    struct str type;
    int64_t lost; /* number of lost events in a record "turncast.audit.lost" */
};

static void audit_verify_hash_hex(struct str text, char hex[65])
{
    struct sha256_ctx ctx;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&ctx);
    sha256_update(&ctx, text.len, (const uint8_t *)text.p);
    sha256_digest(&ctx, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

static void audit_verify_read_member(struct json *j, struct str key, struct record *r)
{
    if (str_is(key, "seq"))
        json_reader_read_int(j, &r->seq);
    else if (str_is(key, "prev"))
        json_reader_read_string(j, &r->prev);
    else if (str_is(key, "event_type"))
        json_reader_read_string(j, &r->type);
    else
        json_reader_skip(j, NULL);
}

static int64_t audit_verify_read_lost_count(struct str line)
{
    const struct str count = json_reader_pointer(line, "/detail/count");
    struct json j;
    int64_t lost = 0;
    json_init(&j, count.p ? count.p : "0", count.p ? count.len : 1);
    return json_reader_read_int(&j, &lost) && lost > 0 ? lost : 0;
}

/* false: not a record. */
static bool read_record(struct str line, struct record *r)
{
    struct json j;
    struct str key;
    *r = (struct record){.seq = -1};
    if (!json_reader_open_object(&j, line))
        return false;
    while (json_reader_next_key(&j, &key))
        audit_verify_read_member(&j, key, r);
    if (json_reader_finish(&j) || r->seq < 1)
        return false;
    if (str_is(r->type, "turncast.audit.lost"))
        r->lost = audit_verify_read_lost_count(line);
    return true;
}

static bool audit_verify_is_own_hash_valid(struct str line)
{
    char own[65];
    if (line.len < HASH_LEN)
        return false;
    const char *seal = line.p + line.len - HASH_LEN;
    if (memcmp(seal, hash_key, sizeof hash_key - 1) != 0)
        return false;
    audit_verify_hash_hex((struct str){line.p, line.len - HASH_LEN}, own);
    return memcmp(seal + sizeof hash_key - 1, own, 64) == 0;
}

struct audit_verify_state {
    struct audit_verify_report *report;
    const char *path;
    struct tc_err *err;
    uint64_t line;
};

static int audit_verify_fail(const struct audit_verify_state *w, uint64_t seq, const char *what)
{
    char place[256];
    w->report->bad = true;
    w->report->bad_seq = seq;
    snprintf(place, sizeof place, "%s:%" PRIu64, w->path, w->line);
    return err_set(w->err, place, "record %" PRIu64 " %s", seq, what);
}

static int audit_verify_fail_sequence(const struct audit_verify_state *w, uint64_t wanted,
                                      uint64_t seen)
{
    char what[128];
    snprintf(what, sizeof what, "%s: found record %" PRIu64 " instead",
             seen > wanted ? "is missing" : "is out of place", seen);
    return audit_verify_fail(w, wanted, what);
}

/* Checks the hash of a record, then its link to the previous record. */
static int check_line(struct audit_verify_state *w, struct str line)
{
    struct audit_verify_report *r = w->report;
    const bool first = r->records == 0;
    struct record rec;
    const bool readable = read_record(line, &rec);
    if (!readable || !audit_verify_is_own_hash_valid(line))
        return audit_verify_fail(w, first ? (readable ? (uint64_t)rec.seq : 1) : r->last_seq + 1,
                                 readable ? "was modified" : "is not an audit record");
    const uint64_t seq = (uint64_t)rec.seq;
    if (!first && seq != r->last_seq + 1)
        return audit_verify_fail_sequence(w, r->last_seq + 1, seq);
    if (first && seq == 1 && rec.prev.p)
        return audit_verify_fail(
            w, seq, "is the first record but refers to a previous one (earlier file missing?)");
    /* The previous record is valid by itself, but this record was written after another one. */
    if (!first && !str_is(rec.prev, r->head))
        return audit_verify_fail(w, r->last_seq,
                                 "was replaced: the hash in the next record does not match");
    if (first)
        r->first_seq = seq;
    r->last_seq = seq;
    r->records++;
    r->lost += (uint64_t)rec.lost;
    audit_verify_hash_hex(line, r->head);
    return 0;
}

/* Checks the complete lines of the buffer; keeps an incomplete last line. */
static int check_lines(struct audit_verify_state *w, struct buf *text)
{
    size_t from = 0;
    while (from < text->len) {
        const char *p = text->p + from;
        const char *newline = memchr(p, '\n', text->len - from);
        if (!newline)
            break;
        w->line++;
        if (check_line(w, (struct str){p, (size_t)(newline - p)}))
            return -1;
        from += (size_t)(newline - p) + 1;
    }
    buf_consume(text, from);
    if (text->len <= AUDIT_MAX_LINE)
        return 0;
    w->line++;
    return audit_verify_fail(w, w->report->last_seq + 1, "is too long for an audit record");
}

static int audit_verify_check_file(struct audit_verify_state *w, FILE *file)
{
    enum { CHUNK = 64 * 1024 };
    CLEANUP_BUF struct buf text = {0};
    size_t n;
    while ((n = fread(buf_reserve(&text, CHUNK), 1, CHUNK, file)) > 0) {
        text.len += n;
        if (check_lines(w, &text))
            return -1;
    }
    if (ferror(file))
        return err_set_errno(w->err, errno, w->path, "cannot read");
    w->line++;
    return text.len > 0 ? audit_verify_fail(w, w->report->last_seq + 1, "is incomplete (truncated)")
                        : 0;
}

int audit_verify_file(const char *path, struct audit_verify_report *report, struct tc_err *err)
{
    if (report->bad)
        return err_set(err, path, "skipped: the chain is already broken in an earlier file");
    CLEANUP_FILE FILE *file = fopen(path, "re");
    if (!file)
        return err_set_errno(err, errno, path, "cannot open");
    struct audit_verify_state w = {.report = report, .path = path, .err = err};
    report->files++;
    return audit_verify_check_file(&w, file);
}
