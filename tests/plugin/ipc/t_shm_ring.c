/* SPDX-License-Identifier: MIT
 * Tests of plugin/ipc/shm_ring.h: pieces are read in order, complete, and in many rounds; a
 * sleeping reader is woken once; positions of the other process are validated. */
#include "plugin/ipc/shm_ring.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap/tap.h"

static struct shm_ring host, instance;

static void begin(void)
{
    struct tc_err err = {0};
    const int fd = memfd_create("ring", MFD_CLOEXEC);
    const bool made = fd >= 0 && ftruncate(fd, (off_t)(4 * RING_HEAD + RING_SHARED)) == 0 &&
                      shm_ring_map(&host, fd, 4 * RING_HEAD, &err) == 0 &&
                      shm_ring_map(&instance, fd, 4 * RING_HEAD, &err) == 0;
    if (!made)
        bail("no ring: %s", err_format(&err));
    close(fd);
}

static void end(void)
{
    shm_ring_unmap(&host);
    shm_ring_unmap(&instance);
}

static void write_piece(char fill, size_t len)
{
    memset(shm_ring_reserve(&host), fill, len);
    shm_ring_commit(&host, len);
}

static bool is_filled(struct str piece, char fill, size_t len)
{
    bool same = piece.len >= len && (uintptr_t)piece.p % 8 == 0;
    for (size_t i = 0; same && i < len; i++)
        same = piece.p[i] == fill;
    return same;
}

static void test_pieces(void)
{
    begin();
    write_piece('a', 5);
    is_int((long long)shm_ring_peek(&instance).len, 0, "an unpublished piece cannot be read");
    write_piece('b', 8);
    shm_ring_publish(&host);
    is_int((long long)shm_ring_peek(&instance).len, 16, "a published piece can be read");
    ok(is_filled(shm_ring_peek(&instance), 'a', 5), "the first piece is unchanged");
    shm_ring_consume(&instance, 5);
    ok(is_filled(shm_ring_peek(&instance), 'b', 8), "the second piece is unchanged");
    shm_ring_consume(&instance, 8);
    is_int((long long)shm_ring_peek(&instance).len, 0, "no further piece can be read");
    end();
}

static void test_front(void)
{
    begin();
    const char *const front = shm_ring_reserve(&host);
    write_piece('a', 1000);
    shm_ring_publish(&host);
    shm_ring_has_room(&host, 1);
    ok(shm_ring_reserve(&host) == front + 1000, "a piece is written after unread ones");
    shm_ring_peek(&instance);
    shm_ring_consume(&instance, 1000);
    shm_ring_has_room(&host, 1);
    ok(shm_ring_reserve(&host) == front, "an empty ring is written from its beginning");
    write_piece('b', 10);
    shm_ring_has_room(&host, 1);
    ok(shm_ring_reserve(&host) == front + 16, "the next piece is written after it");
    shm_ring_publish(&host);
    ok(is_filled(shm_ring_peek(&instance), 'b', 10), "the reader finds the piece at the beginning");
    end();
}

/* Pieces whose sizes do not divide the size of the ring reach its end. */
static void test_rounds(void)
{
    bool same = true;
    begin();
    for (size_t i = 0; i < 200; i++) {
        const size_t len = RING_PIECE_MAX - 7 * i;
        same = same && shm_ring_has_room(&host, 1);
        write_piece((char)('a' + i % 26), len);
        shm_ring_publish(&host);
        if (!i)
            continue; /* one piece is always unread, so that writing never restarts at the beginning
                       * */
        const size_t before = RING_PIECE_MAX - 7 * (i - 1);
        same = same && is_filled(shm_ring_peek(&instance), (char)('a' + (i - 1) % 26), before);
        shm_ring_consume(&instance, before);
    }
    ok(same, "pieces are complete in all rounds");
    end();
}

static void test_full(void)
{
    begin();
    size_t n = 0;
    for (; shm_ring_has_room(&host, 1); n++)
        write_piece('x', RING_PIECE_MAX);
    is_int((long long)n, RING_BYTES / RING_PIECE_MAX,
           "the ring accepts its maximum of largest pieces");
    shm_ring_publish(&host);
    shm_ring_peek(&instance);
    shm_ring_consume(&instance, RING_PIECE_MAX);
    ok(shm_ring_has_room(&host, 1) && !shm_ring_has_room(&host, 2),
       "a piece that was read makes room for another one");
    end();
}

static void test_rest(void)
{
    begin();
    write_piece('a', 8);
    ok(!shm_ring_publish(&host), "a reader that is not sleeping is not woken");
    ok(!shm_ring_begin_sleep(&instance), "a reader does not sleep while pieces are unread");
    shm_ring_peek(&instance);
    shm_ring_consume(&instance, 8);
    ok(shm_ring_begin_sleep(&instance), "a reader sleeps when all pieces are read");
    ok(!shm_ring_publish(&host), "publishing nothing does not wake the reader");
    write_piece('b', 8);
    ok(shm_ring_publish(&host), "publishing a piece wakes the reader");
    write_piece('c', 8);
    ok(!shm_ring_publish(&host), "a reader is woken once");
    shm_ring_end_sleep(&instance);
    is_int((long long)shm_ring_peek(&instance).len, 16, "the reader finds both pieces");
    end();
}

static void check_position(uint64_t read, bool sane, const char *what)
{
    atomic_store(&instance.page->read, read);
    ok(shm_ring_is_reader_valid(&host) == sane, "%s is %s", what, sane ? "valid" : "invalid");
    shm_ring_has_room(&host, RING_BYTES / RING_PIECE_MAX);
    ok(host.read <= host.written && host.written - host.read <= RING_BYTES,
       "the position stays within the ring");
}

static void test_lies(void)
{
    begin();
    for (int i = 0; i < 4; i++)
        write_piece('x', RING_PIECE_MAX);
    shm_ring_publish(&host);
    check_position(16, true, "a part");
    check_position(8, false, "a read position below the previous one");
    check_position(17, false, "a read position within a piece");
    check_position(4 * RING_PIECE_MAX + 8, false, "a read position after the written pieces");
    check_position(UINT64_MAX - 7, false, "a huge read position");
    check_position(4 * RING_PIECE_MAX, true, "all");
    end();
}

/* ---- writer and reader at the same time */

#define MANY 20000
static int wake_pipe[2];

static void *read_all(void *arg)
{
    size_t bad = 0;
    char byte;
    for (size_t i = 0; i < MANY;) {
        const struct str piece = shm_ring_peek(&instance);
        if (!piece.len) {
            if (shm_ring_begin_sleep(&instance))
                (void)!read(wake_pipe[0], &byte, 1);
            shm_ring_end_sleep(&instance);
            continue;
        }
        const size_t len = 1 + i * 37 % 3000;
        bad += !is_filled(piece, (char)i, len);
        shm_ring_consume(&instance, len);
        i++;
    }
    *(size_t *)arg = bad;
    return NULL;
}

static void test_together(void)
{
    pthread_t reader;
    size_t bad = 1;
    begin();
    if (pipe(wake_pipe) < 0 || pthread_create(&reader, NULL, read_all, &bad) != 0)
        bail("no thread");
    for (size_t i = 0; i < MANY; i++) {
        while (!shm_ring_has_room(&host, 1))
            sched_yield();
        write_piece((char)i, 1 + i * 37 % 3000);
        if ((i % 3 == 0 || i == MANY - 1) && shm_ring_publish(&host))
            (void)!write(wake_pipe[1], "", 1);
        else if (!shm_ring_has_room(&host, 1) && shm_ring_publish(&host))
            (void)!write(wake_pipe[1], "", 1);
    }
    pthread_join(reader, NULL);
    is_int((long long)bad, 0, "with both threads nothing is lost, and the reader is always woken");
    close(wake_pipe[0]);
    close(wake_pipe[1]);
    end();
}

int main(void)
{
    plan_lazy();
    test_pieces();
    test_front();
    test_rounds();
    test_full();
    test_rest();
    test_lies();
    test_together();
}
