/* SPDX-License-Identifier: MIT
 * Files of a prompt for another host: which lines count, what replaces them, and the messages by
 * which their bytes are fetched. */
#include "core/work/work_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/bus/bus_message.h"
#include "io/http/client/download.h"
#include "tap/tap.h"

#define DIR "/s/instances/tg/files"
#define ONE DIR "/file-00112233445566778899aabbccddeeff"
#define TWO DIR "/file-ffeeddccbbaa99887766554433221100"

static struct str text_of(const char *text)
{
    return (struct str){text, strlen(text)};
}

static struct str all(const struct buf *b)
{
    return (struct str){b->p, b->len};
}

static void test_find(void)
{
    static const struct {
        const char *prompt, *paths, *what;
    } cases[] = {
        {"look\n\n[file: " ONE " (photo.jpg)]", ONE, "a file"},
        {"[file: " ONE "]\n[file: " TWO " (a) (b).txt)]\n\nmore", ONE "\n" TWO,
         "two files, one without a name"},
        {"[file: " ONE " (a)]\n[file: " ONE " (b)]", ONE,
         "a file that is listed twice is returned once"},
        {"[file: /etc/passwd (x)]", "", "a file of another directory is ignored"},
        {"[file: " DIR "/../file-00112233445566778899aabbccddeeff]", "",
         "a path with .. is ignored"},
        {"[file: " DIR "/file-00112233445566778899aabbccddeefg]", "",
         "a file with an invalid name is ignored"},
        {"[file: " DIR "/file-00112233445566778899aabbccddeeff/x]", "",
         "a path below a file is ignored"},
        {"see [file: " ONE "]", "", "a file in the middle of a line is ignored"},
        {"[file: " ONE " (open", "", "a line without a closing bracket is ignored"},
        {"", "", "an empty prompt has no files"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP_BUF struct buf paths = {0};
        work_files_find(&paths, text_of(cases[i].prompt), DIR);
        is_str(paths.p ? paths.p : "", cases[i].paths, "%s", cases[i].what);
    }
}

static void test_limit(void)
{
    CLEANUP_BUF struct buf prompt = {0}, paths = {0};
    for (unsigned i = 0; i < WORK_FILES_MAX + 3; i++)
        buf_printf(&prompt, "[file: " DIR "/file-%032x]\n", i);
    work_files_find(&paths, all(&prompt), DIR);
    is_int((long)work_files_count(paths.p), WORK_FILES_MAX, "the number of files is limited");
}

static void test_list(void)
{
    CLEANUP_FREE char *second = work_files_path("a\nb\nc", 1);
    CLEANUP_FREE char *last = work_files_path("a\nb\nc", 2);
    is_int((long)work_files_count("a\nb\nc"), 3, "three paths are counted");
    is_str(second, "b", "the second path");
    is_str(last, "c", "the last path");
    ok(!work_files_path("a\nb\nc", 3) && !work_files_path(NULL, 0) && !work_files_path("", 0),
       "a path after the end is NULL");
    is_int((long)work_files_count(NULL), 0, "a missing list has no paths");
}

static void test_replace(void)
{
    const char prompt[] = "do\n\n[file: " ONE " (photo (1).jpg)]\n[file: " TWO "]\n[file: " ONE
                          " (v.ogg): not transcribed]\n";
    CLEANUP_BUF struct buf there = {0}, gone = {0}, nameless = {0};
    work_files_replace(&there, text_of(prompt), ONE, "/r/f");
    is_str(there.p,
           "do\n\n[file: /r/f (photo (1).jpg)]\n[file: " TWO "]\n[file: /r/f (v.ogg): not "
           "transcribed]\n",
           "the path is replaced, and the name is kept");
    work_files_replace(&gone, text_of(prompt), ONE, NULL);
    is_str(gone.p,
           "do\n\n[photo (1).jpg: download failed]\n[file: " TWO "]\n[v.ogg: download failed]\n",
           "a missing file is replaced by a notice");
    work_files_replace(&nameless, text_of(prompt), TWO, NULL);
    ok(nameless.p && strstr(nameless.p, "\n[file: download failed]\n"),
       "a missing file without a name is replaced by a notice");
}

static bool is_one(const char *path)
{
    return strcmp(path, ONE) == 0;
}

static void test_adopt(void)
{
    const char prompt[] =
        "do\n\n[file: /other/host/file-00112233445566778899aabbccddeeff (a.jpg)]\n"
        "[file: " ONE "]\n[file: /other/host/file-ffeeddccbbaa99887766554433221100 (b (1).jpg)]\n"
        "[file: " TWO "]\n[file: /etc/motd (c.txt)]\n[file: relative]\nend";
    CLEANUP_BUF struct buf adopted = {0};
    work_files_adopt(&adopted, text_of(prompt), DIR, is_one);
    is_str(adopted.p,
           "do\n\n[file: " ONE " (a.jpg)]\n[file: " ONE "]\n[b (1).jpg: download failed]\n"
           "[file: download failed]\n[file: /etc/motd (c.txt)]\n[file: relative]\nend",
           "downloads are replaced by local ones or by a notice; other lines are kept");
}

static void test_request(void)
{
    CLEANUP_BUF struct buf b = {0};
    struct arena arena = {0};
    struct work_files_request r;
    work_files_write_request(&b, &(struct work_files_request){"t\"1", 3, 524288});
    is_int(work_files_read_request(all(&b), &arena, &r), 0, "a request is read");
    is_str(r.turn, "t\"1", "the turn of the request");
    is_int((long)r.number, 3, "the file number of the request");
    is_int((long)r.offset, 524288, "the offset of the request");
    is_int(work_files_read_request(STR("{\"file\":1}"), &arena, &r), -1,
           "a request without a turn is refused");
    is_int(work_files_read_request(STR("{\"turn\":\"t\",\"offset\":-1}"), &arena, &r), -1,
           "a request with a negative offset is refused");
    is_int(work_files_read_request(STR("{\"turn\":\"t\",\"file\":-1}"), &arena, &r), -1,
           "a request with a negative file number is refused");
    is_int(work_files_read_request(STR("what"), &arena, &r), -1,
           "a request that is not JSON is refused");
    arena_fini(&arena);
}

static int read_part(int64_t size, struct str bytes, int64_t offset, struct work_files_reply *r)
{
    static struct buf b;
    buf_reset(&b);
    work_files_write_reply(&b, &(struct work_files_reply){WORK_FILES_BYTES, size, bytes});
    return work_files_read_reply(all(&b), offset, r);
}

static void test_reply(void)
{
    CLEANUP_BUF struct buf gone = {0};
    struct work_files_reply r;
    is_int(read_part(9, (struct str){"a\n\0b", 4}, 5, &r), 0, "a part of a file is read");
    ok(r.result == WORK_FILES_BYTES && r.size == 9 && r.bytes.len == 4 &&
           memcmp(r.bytes.p, "a\n\0b", 4) == 0,
       "the part has its bytes, including NUL");
    is_int(read_part(0, STR(""), 0, &r), 0, "an empty file is read");
    is_int(read_part(9, STR(""), 5, &r), -1, "an empty part before the end of the file is refused");
    is_int(read_part(9, STR("abcde"), 5, &r), -1, "a part beyond the end of the file is refused");
    is_int(read_part((int64_t)DOWNLOAD_MAX_BYTES + 1, STR("a"), 0, &r), -1,
           "a file above the maximum size is refused");
    is_int(read_part(DOWNLOAD_MAX_BYTES, STR("a"), 0, &r), 0, "a file of the maximum size is read");
    work_files_write_reply(&gone, &(struct work_files_reply){.result = WORK_FILES_GONE});
    is_int(work_files_read_reply(all(&gone), 0, &r), 0, "the reply for a missing file is read");
    is_int(r.result, WORK_FILES_GONE, "the result says that the file is missing");
    is_int(work_files_read_reply(STR("{\"result\":\"bytes\",\"size\":1}"), 0, &r), -1,
           "a reply without a newline is refused");
    is_int(work_files_read_reply(STR("{\"result\":\"what\"}\n"), 0, &r), -1,
           "a reply with an unknown result is refused");
}

int main(void)
{
    plan_lazy();
    test_find();
    test_limit();
    test_list();
    test_replace();
    test_adopt();
    test_request();
    test_reply();
    return 0;
}
