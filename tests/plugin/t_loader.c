/* SPDX-License-Identifier: MIT
 * Tests of plugin/loader.h: what is loaded, what is refused and with which line. */
#include "plugin/loader.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "tap/tap.h"

static struct tc_err err;

/* A module of the build tree; static. */
static const char *fault(const char *name)
{
    static char path[512];
    const char *const build = getenv("TURNCAST_BUILDDIR");
    snprintf(path, sizeof path, "%s/tests/fault/%s.so", build ? build : ".", name);
    return path;
}

/* A path in the directory of this test; static. */
static const char *temp(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", tap_tmpdir(), name);
    return path;
}

static void refused(const char *path, const char *why, const char *what)
{
    err = (struct tc_err){0};
    struct loaded *const l = loader_open(path, &err);
    ok(!l, "%s is refused", what);
    has_str(err.text, why, "  says why");
    is_str(err.place, path, "  says which");
    ok(!strchr(err_str(&err), '\n'), "  in one line");
    loader_free(l);
}

static void test_good(void)
{
    struct loaded *const l = loader_open(fault("recorder"), &err);
    if (!ok(l != NULL, "a good plugin: %s", l ? "" : err_str(&err)))
        return;
    is_str(l->plugin.name, "recorder", "name");
    is_str(l->path, fault("recorder"), "path");
    ok(l->plugin.sink == &l->sink && l->sink.on_event && !l->sink.on_narration, "sink");
    ok(l->plugin.flags == TC_SEES_ALL, "flags");
    struct loaded *const again = loader_open(fault("recorder"), &err);
    ok(again && again->sink.on_event == l->sink.on_event, "the same file twice is the same code");
    struct loaded *const other = loader_open(fault("fails"), &err);
    ok(other && other->sink.on_event != l->sink.on_event, "another file is other code");
    loader_free(again);
    loader_free(l);
    struct loaded *const third = loader_open(fault("sleeps"), &err);
    ok(third && strcmp(third->plugin.name, "sleeps") == 0, "freeing one does not mix up names");
    loader_free(third);
    loader_free(other);
}

static void test_old(void)
{
    struct loaded *const l = loader_open(fault("old10"), &err);
    if (!ok(l != NULL, "shorter structs of 1.0 load: %s", l ? "" : err_str(&err)))
        return;
    ok(l->plugin.size < sizeof l->plugin, "they are shorter");
    ok(l->plugin.pace_ms == 0 && !l->plugin.audience && !l->plugin.rates,
       "members it lacks are clear");
    ok(l->sink.on_final && !l->sink.on_message && !l->sink.on_idle, "callbacks it lacks too");
    ok(!l->sink.on_reply && !l->sink.on_wake && !l->sink.on_hit && !l->sink.on_frame,
       "  those of the services");
    loader_free(l);
}

static void test_rates(void)
{
    struct loaded *const l = loader_open(fault("rated"), &err);
    if (!ok(l != NULL, "a plugin with rates: %s", l ? "" : err_str(&err)))
        return;
    ok(l->plugin.rates && l->plugin.rates[1].per_lane == 1 && l->sink.on_reply, "has them");
    loader_free(l);
    refused(fault("badrate"), "rate 1 has an interval that is none", "a rate without an interval");
    refused(fault("manyrates"), "has more than 12 rates", "a plugin with too many rates");
}

static void test_abi(void)
{
    refused(fault("oldmajor"), "needs plugin API 0.3, this host has 1.0: build it again",
            "another major");
    refused(fault("newminor"), "needs plugin API 1.999, this host has 1.0: use a newer turncast",
            "a newer minor");
    refused(fault("nosymbol"), "has no symbol turncast_plugin", "no plugin");
    refused(fault("function"), "turncast_plugin is not a constant", "a function");
    refused(fault("toolong"), "bytes, the file has", "a struct longer than it is");
    refused(fault("tooshort"), "are expected", "a struct too short");
    refused(fault("badname"), "has a bad name", "a bad name");
    refused(fault("nosink"), "has no sink", "no sink");
    refused(fault("badoption"), "option \"b\" at offset 8 is not a member of 8 bytes",
            "an option outside the struct");
    refused(fault("twooptions"), "option \"a\" is declared twice", "an option twice");
}

static void test_undefined(void)
{
    refused(fault("undefined"), "undefined symbol: a_function_that_nobody_has",
            "an undefined symbol");
}

static void copy(const char *from, const char *to, size_t len)
{
    size_t n;
    char *const text = tap_slurp(from, &n);
    tap_spew(to, text, len < n ? len : n);
    free(text);
}

static void test_not_regular(void)
{
    refused(tap_tmpdir(), "is not a regular file", "a directory");
    mkfifo(temp("fifo.so"), 0600);
    refused(temp("fifo.so"), "is not a regular file", "a FIFO");
    if (symlink(fault("recorder"), temp("link.so")) == 0)
        refused(temp("link.so"), "is a symbolic link", "a symbolic link");
    refused(temp("none.so"), "No such file or directory", "a missing file");
    refused("/dev/null", "is not a regular file", "a device");
}

static void test_not_elf(void)
{
    tap_spew(temp("empty.so"), "", 0);
    refused(temp("empty.so"), "is not an ELF module: it has 0 bytes only", "an empty file");
    const char script[] = "#!/bin/sh\necho this is a script, and long enough to have a header\n";
    tap_spew(temp("script.so"), script, sizeof script - 1);
    refused(temp("script.so"), "is not an ELF module (no \\177ELF at its beginning)", "a script");
}

/* Every length at which a copy could stop inside what must be loaded. */
static void test_truncated(void)
{
    size_t n;
    char *const text = tap_slurp(fault("recorder"), &n);
    const ElfW(Ehdr) *const header = (const void *)text;
    const ElfW(Phdr) *const segments = (const void *)(text + header->e_phoff);
    size_t needed = 0;
    for (size_t i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset + segments[i].p_filesz > needed)
            needed = segments[i].p_offset + segments[i].p_filesz;
    bool all = needed > 0;
    for (size_t len = 0; len < needed && all; len += 97) {
        tap_spew(temp("cut.so"), text, len);
        struct loaded *const l = loader_open(temp("cut.so"), &err);
        all = !l;
        loader_free(l);
    }
    ok(all, "cut anywhere within %zu bytes it is refused", needed);
    tap_spew(temp("half.so"), text, needed - 1);
    refused(temp("half.so"), "is truncated: ", "a truncated module");
    free(text);
}

static void refused_header(size_t offset, unsigned char value, const char *why, const char *what)
{
    size_t n;
    char *const text = tap_slurp(fault("recorder"), &n);
    text[offset] = (char)value;
    tap_spew(temp("header.so"), text, n);
    free(text);
    refused(temp("header.so"), why, what);
}

static void test_headers(void)
{
    refused_header(offsetof(ElfW(Ehdr), e_machine), EM_S390, "is for machine s390 (22), this host",
                   "another machine");
    refused_header(EI_CLASS, sizeof(void *) == 8 ? ELFCLASS32 : ELFCLASS64, "-bit module",
                   "another word size");
    refused_header(EI_DATA, 3, "is a module of the other byte order", "another byte order");
    refused_header(offsetof(ElfW(Ehdr), e_type), ET_EXEC, "is ELF type 2", "a program");
    refused_header(offsetof(ElfW(Ehdr), e_phnum), 200, "has a damaged ELF header", "odd segments");
}

static void test_writable(void)
{
    char path[512], why[600];
    snprintf(path, sizeof path, "%s", temp("open.so"));
    copy(fault("recorder"), path, SIZE_MAX);
    chmod(path, 0664);
    snprintf(why, sizeof why, "others may write to it; run: chmod go-w %s", path);
    refused(path, why, "a file its group may write to");
    chmod(path, 0606);
    refused(path, why, "a file everybody may write to");
    chmod(path, 0644);
    struct loaded *const l = loader_open(path, &err);
    ok(l != NULL, "closed, it is loaded");
    loader_free(l);

    mkdir(temp("open"), 0777);
    chmod(temp("open"), 0777);
    snprintf(path, sizeof path, "%s", temp("open/a.so"));
    copy(fault("recorder"), path, SIZE_MAX);
    snprintf(why, sizeof why, "others may write to the folder %s; run: chmod go-w", temp("open"));
    refused(path, why, "a folder everybody may write to");
}

static void add_name(void *ctx, const char *path)
{
    buf_printf(ctx, "%s ", strrchr(path, '/') + 1);
}

static void test_find(void)
{
    mkdir(temp("one"), 0755);
    mkdir(temp("two"), 0755);
    copy(fault("recorder"), temp("two/recorder.so"), SIZE_MAX);
    copy(fault("recorder"), temp("two/abc.so"), SIZE_MAX);
    tap_spew(temp("two/readme.txt"), "x", 1);
    tap_spew(temp("two/.hidden.so"), "x", 1);
    char one[512], two[512];
    snprintf(one, sizeof one, "%s", temp("one"));
    snprintf(two, sizeof two, "%s", temp("two"));
    const char *const dirs[] = {one, two, NULL};

    struct loaded *l = loader_find("recorder", dirs, &err);
    ok(l && strcmp(l->path, temp("two/recorder.so")) == 0, "found by name in the second folder");
    loader_free(l);
    l = loader_find(temp("two/abc.so"), dirs, &err);
    ok(l != NULL, "found by path");
    loader_free(l);
    ok(!loader_find("nobody", dirs, &err), "an unknown name");
    has_str(err_str(&err), "nobody: no such plugin: there is no nobody.so in ", "  says where");
    has_str(err_str(&err), two, "  in all folders");
    const char *const none[] = {NULL};
    ok(!loader_find("nobody", none, &err), "no folders");

    CLEANUP_BUF struct buf names = {0};
    loader_scan(dirs, add_name, &names);
    is_str(names.p, "abc.so recorder.so ", "a scan gives the modules, sorted");
}

int main(void)
{
    plan_lazy();
    umask(022);
    test_good();
    test_old();
    test_rates();
    test_abi();
    test_undefined();
    test_not_regular();
    test_not_elf();
    test_truncated();
    test_headers();
    test_writable();
    test_find();
}
