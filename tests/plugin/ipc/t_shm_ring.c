/* SPDX-License-Identifier: MIT
 * Tests of plugin/ipc/shm_ring.h: what goes in comes out, in order and in one piece, round after
 * round; who rests is woken once; what the other side claims is believed only where it can be. */
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

static void put(char fill, size_t len)
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
    put('a', 5);
    is_int((long long)shm_ring_peek(&instance).len, 0, "what is not published is not there");
    put('b', 8);
    shm_ring_publish(&host);
    is_int((long long)shm_ring_peek(&instance).len, 16, "then it is");
    ok(is_filled(shm_ring_peek(&instance), 'a', 5), "  the first");
    shm_ring_consume(&instance, 5);
    ok(is_filled(shm_ring_peek(&instance), 'b', 8), "  the second");
    shm_ring_consume(&instance, 8);
    is_int((long long)shm_ring_peek(&instance).len, 0, "  and no more");
    end();
}

static void test_front(void)
{
    begin();
    const char *const front = shm_ring_reserve(&host);
    put('a', 1000);
    shm_ring_publish(&host);
    shm_ring_has_room(&host, 1);
    ok(shm_ring_reserve(&host) == front + 1000, "behind what has not been read");
    shm_ring_peek(&instance);
    shm_ring_consume(&instance, 1000);
    shm_ring_has_room(&host, 1);
    ok(shm_ring_reserve(&host) == front, "at the front, when all has been");
    put('b', 10);
    shm_ring_has_room(&host, 1);
    ok(shm_ring_reserve(&host) == front + 16, "  once");
    shm_ring_publish(&host);
    ok(is_filled(shm_ring_peek(&instance), 'b', 10), "  where the other side finds it");
    end();
}

/* Sizes that do not divide it come to lie across its end. */
static void test_rounds(void)
{
    bool same = true;
    begin();
    for (size_t i = 0; i < 200; i++) {
        const size_t len = RING_PIECE_MAX - 7 * i;
        same = same && shm_ring_has_room(&host, 1);
        put((char)('a' + i % 26), len);
        shm_ring_publish(&host);
        if (!i)
            continue; /* one always waits, so that it never begins at the front again */
        const size_t before = RING_PIECE_MAX - 7 * (i - 1);
        same = same && is_filled(shm_ring_peek(&instance), (char)('a' + (i - 1) % 26), before);
        shm_ring_consume(&instance, before);
    }
    ok(same, "pieces are whole, round after round");
    end();
}

static void test_full(void)
{
    begin();
    size_t n = 0;
    for (; shm_ring_has_room(&host, 1); n++)
        put('x', RING_PIECE_MAX);
    is_int((long long)n, RING_BYTES / RING_PIECE_MAX, "it takes so many of the longest");
    shm_ring_publish(&host);
    shm_ring_peek(&instance);
    shm_ring_consume(&instance, RING_PIECE_MAX);
    ok(shm_ring_has_room(&host, 1) && !shm_ring_has_room(&host, 2),
       "one that is read makes room for one");
    end();
}

static void test_rest(void)
{
    begin();
    put('a', 8);
    ok(!shm_ring_publish(&host), "who does not rest is not woken");
    ok(!shm_ring_begin_sleep(&instance), "and does not rest, for there is something");
    shm_ring_peek(&instance);
    shm_ring_consume(&instance, 8);
    ok(shm_ring_begin_sleep(&instance), "then it does");
    ok(!shm_ring_publish(&host), "nothing new: it is let be");
    put('b', 8);
    ok(shm_ring_publish(&host), "it is woken");
    put('c', 8);
    ok(!shm_ring_publish(&host), "  once");
    shm_ring_end_sleep(&instance);
    is_int((long long)shm_ring_peek(&instance).len, 16, "  for all there is");
    end();
}

static void claim(uint64_t read, bool sane, const char *what)
{
    atomic_store(&instance.page->read, read);
    ok(shm_ring_is_reader_valid(&host) == sane, "%s is %s", what, sane ? "possible" : "not");
    shm_ring_has_room(&host, RING_BYTES / RING_PIECE_MAX);
    ok(host.read <= host.written && host.written - host.read <= RING_BYTES, "  the host is safe");
}

static void test_lies(void)
{
    begin();
    for (int i = 0; i < 4; i++)
        put('x', RING_PIECE_MAX);
    shm_ring_publish(&host);
    claim(16, true, "a part");
    claim(8, false, "less than before");
    claim(17, false, "a piece of a piece");
    claim(4 * RING_PIECE_MAX + 8, false, "more than there was");
    claim(UINT64_MAX - 7, false, "far more");
    claim(4 * RING_PIECE_MAX, true, "all");
    end();
}

/* ---- both at once */

#define MANY 20000
static int bell[2];

static void *read_all(void *arg)
{
    size_t bad = 0;
    char byte;
    for (size_t i = 0; i < MANY;) {
        const struct str piece = shm_ring_peek(&instance);
        if (!piece.len) {
            if (shm_ring_begin_sleep(&instance))
                (void)!read(bell[0], &byte, 1);
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
    if (pipe(bell) < 0 || pthread_create(&reader, NULL, read_all, &bad) != 0)
        bail("no thread");
    for (size_t i = 0; i < MANY; i++) {
        while (!shm_ring_has_room(&host, 1))
            sched_yield();
        put((char)i, 1 + i * 37 % 3000);
        if ((i % 3 == 0 || i == MANY - 1) && shm_ring_publish(&host))
            (void)!write(bell[1], "", 1);
        else if (!shm_ring_has_room(&host, 1) && shm_ring_publish(&host))
            (void)!write(bell[1], "", 1);
    }
    pthread_join(reader, NULL);
    is_int((long long)bad, 0, "one writes, the other reads: nothing is lost, none sleeps on");
    close(bell[0]);
    close(bell[1]);
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
