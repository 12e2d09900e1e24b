/* SPDX-License-Identifier: MIT
 * Tests of plugin/abi/loader.h: which modules are loaded, which are refused with which message, and
 * that no code of a refused module runs in this process. */
#include "plugin/abi/loader.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes/buf.h"
#include "tap/tap.h"

static struct tc_err err;

/* Returns the path of a module in the build tree, valid until the next call. */
static const char *module_path(const char *name)
{
    static char path[512];
    const char *const build = getenv("TURNCAST_BUILDDIR");
    snprintf(path, sizeof path, "%s/tests/fault/%s.so", build ? build : ".", name);
    return path;
}

/* Returns a path in the directory of this test, valid until the next call. */
static const char *temp(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", tap_tmpdir(), name);
    return path;
}

static void copy(const char *from, const char *to, size_t len)
{
    size_t n;
    char *const text = tap_slurp(from, &n);
    tap_spew(to, text, len < n ? len : n);
    free(text);
}

static bool is_mapped(const char *path)
{
    size_t n;
    char *const maps = tap_slurp("/proc/self/maps", &n);
    const bool found = strstr(maps, path) != NULL;
    free(maps);
    return found;
}

static struct loaded_plugin *probe_and_load(const char *path)
{
    struct loaded_plugin *const l = loader_probe_file(path, &err);
    if (!l || loader_load_code(l, &err) < 0)
        bail("%s: %s", path, err_format(&err));
    return l;
}

/* The refusal is one clear line, and the module is not loaded here. */
static void check_refusal(const char *path, struct loaded_plugin *l, const char *why,
                          const char *what)
{
    ok(!l, "%s is refused", what);
    has_str(err.text, why, "the error names the reason");
    is_str(err.place, path, "the error names the file");
    ok(!strchr(err_format(&err), '\n'), "the error has one line");
    ok(!is_mapped(path), "the module was not loaded here");
    loader_unref_plugin(l);
}

static void refused(const char *path, const char *why, const char *what)
{
    err = (struct tc_err){0};
    check_refusal(path, loader_probe_file(path, &err), why, what);
}

static void test_good(void)
{
    struct loaded_plugin *const l = probe_and_load(module_path("recorder"));
    is_str(l->plugin.name, "recorder", "name");
    is_str(l->path, module_path("recorder"), "path");
    ok(l->plugin.sink == &l->sink && l->sink.on_event && !l->sink.on_narration, "sink");
    ok(l->plugin.flags == TC_SEES_ALL, "flags");
    struct loaded_plugin *const again = probe_and_load(module_path("recorder"));
    ok(again && again->sink.on_event == l->sink.on_event, "the same file has the same functions");
    struct loaded_plugin *const other = probe_and_load(module_path("fails"));
    ok(other && other->sink.on_event != l->sink.on_event, "another file has other functions");
    loader_unref_plugin(again);
    loader_unref_plugin(l);
    struct loaded_plugin *const third = probe_and_load(module_path("sleeps"));
    ok(third && strcmp(third->plugin.name, "sleeps") == 0, "other plugins keep their names");
    loader_unref_plugin(third);
    loader_unref_plugin(other);
}

static void test_described(void)
{
    struct loaded_plugin *l = loader_probe_file(module_path("talker"), &err);
    if (!ok(l != NULL, "described: %s", l ? "" : err_format(&err)))
        return;
    ok(!is_mapped("/talker.so"), "a described plugin is not loaded");
    is_str(l->plugin.name, "talker", "the name of a described plugin");
    is_str(l->plugin.options[0].key, "in", "the options of a described plugin");
    ok(loader_has_callback(l, DESCRIPTOR_ON_WAKE) && !loader_has_callback(l, TC_RAW),
       "its functions are known");
    ok(!l->plugin.init && !l->sink.on_wake && l->plugin.sink == &l->sink,
       "functions have no addresses");
    struct loaded_plugin *const same = loader_ref_plugin(l);
    loader_unref_plugin(l);
    is_int(loader_load_code(same, &err), 0, "its code is loaded: %s", err_format(&err));
    ok(same->linked && same->sink.on_wake && is_mapped("/talker.so"), "functions have addresses");
    is_int(loader_load_code(same, &err), 0, "loading the code again has no effect");
    const int fd = dup(same->fd);
    l = loader_load_fd(fd, same->path, &err);
    ok(l && l->sink.on_wake == same->sink.on_wake && loader_has_callback(l, DESCRIPTOR_ON_WAKE),
       "a connector process loads the plugin from its descriptor");
    loader_unref_plugin(l);
    ok(fcntl(fd, F_GETFD) < 0, "the file has the name of its descriptor");
    loader_unref_plugin(same);
}

/* The file that was checked is loaded, although another one is at the path by then. */
static void test_swapped(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s", temp("swapped.so"));
    copy(module_path("paced"), path, SIZE_MAX);
    struct loaded_plugin *const l = loader_probe_file(path, &err);
    ok(l && loader_is_current(l), "a file that was not replaced is current");
    copy(module_path("loads_aborts"), temp("new.so"), SIZE_MAX);
    rename(temp("new.so"), path);
    ok(l && !loader_is_current(l), "a file that was replaced is not current");
    ok(l && loader_load_code(l, &err) == 0 && l->linked, "the code of the first file is loaded");
    ok(l && !loader_is_overwritten(l), "a replaced file was not overwritten");
    loader_unref_plugin(l);
}

static void test_old(void)
{
    struct loaded_plugin *const l = probe_and_load(module_path("old10"));
    ok(l->plugin.size < sizeof l->plugin, "structures of an old plugin are shorter");
    ok(l->plugin.pace_ms == 0 && !l->plugin.audience && !l->plugin.rates,
       "missing members are zero");
    ok(l->sink.on_final && !l->sink.on_message && !l->sink.on_idle, "missing callbacks are NULL");
    ok(!l->sink.on_reply && !l->sink.on_wake && !l->sink.on_hit && !l->sink.on_frame,
       "missing services are NULL");
    loader_unref_plugin(l);
}

static void test_rates(void)
{
    struct loaded_plugin *const l = probe_and_load(module_path("rated"));
    ok(l->plugin.rates && l->plugin.rates[1].per_lane == 1 && l->sink.on_reply, "it has both");
    loader_unref_plugin(l);
}

static void test_constants(void)
{
    static const struct {
        const char *module, *why, *what;
    } rows[] = {
        {"oldmajor", "built for plugin API 0.3, but this turncast has 1.6; rebuild the plugin",
         "another major"},
        {"newminor", "requires plugin API 1.999, but this turncast has 1.6; upgrade turncast",
         "a newer minor"},
        {"nosymbol", "does not export turncast_plugin", "a module that is not a plugin"},
        {"function", "turncast_plugin is not a constant", "a symbol that is a function"},
        {"toolong", "bytes, but the file contains", "a structure that is longer than the file"},
        {"tooshort", "expected at least", "a structure that is too short"},
        {"badname", "invalid .name", "an invalid name"},
        {"badtext", ".summary contains control characters", "a summary with control characters"},
        {"nosink", ".sink is missing", "a plugin without a sink"},
        {"badoption", "option \"b\": offset 8 does not fit a structure of 8 bytes",
         "an option outside"},
        {"twooptions", "option \"a\": declared twice", "an option that is declared twice"},
        {"badrate", "rate 1: the interval must be 1 ms to 7 days", "a rate without an interval"},
        {"manyrates", "too many rates; the maximum is 12", "a plugin with too many rates"},
        {"undefined", "undefined symbol: a_function_that_nobody_has", "an undefined symbol"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refused(module_path(rows[i].module), rows[i].why, rows[i].what);
}

/* ---- actions of a module while it is loaded ---- */

static const struct way {
    const char *module, *why, *what; /* why NULL: it is permitted */
} ways[] = {
    {"loads_hangs", "a constructor did not return", "a module that hangs"},
    {"loads_segfaults", "loading crashes with signal 11", "a module that crashes"},
    {"loads_aborts", "loading crashes with signal 6", "a module that aborts"},
    {"loads_exits", "a constructor exits", "a module that exits with status 0"},
    {"loads_exits7", "a constructor exits with status ", "a module that exits with 7"},
    {"loads_closes", "or closes a file descriptor of the host", "a module that closes them"},
    {"loads_scribbles", "writes to a file descriptor of the host", "a module that writes"},
    {"loads_prints", NULL, "a module that prints"},
    {"loads_forks", NULL, "a module that leaves a process"},
    {"loads_looks", NULL, "a module that reads its environment"},
};
#define N_WAYS (sizeof ways / sizeof *ways)

static bool has_no_children(void *arg)
{
    (void)arg;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    return waitpid(-1, NULL, WNOHANG) < 0;
}

/* The modules are probed at the same time, so the one that hangs takes no additional time. */
static void test_loading(void)
{
    struct probe_run *const trial = probe_run_new();
    struct probe_candidate *probes[N_WAYS];
    setenv("TURNCAST_CANARY", "1", 1);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (size_t i = 0; i < N_WAYS; i++)
        probes[i] = probe_run_add_file(trial, module_path(ways[i].module));
    probe_run_execute(trial);
    for (size_t i = 0; i < N_WAYS; i++) {
        const char *const path = module_path(ways[i].module);
        err = (struct tc_err){0};
        struct loaded_plugin *const l = probe_run_take_result(trial, probes[i], &err);
        if (ways[i].why) {
            check_refusal(path, l, ways[i].why, ways[i].what);
            continue;
        }
        ok(l && strcmp(l->plugin.name, "loads") == 0, "%s is accepted: %s", ways[i].what, err.text);
        ok(!is_mapped(path), "the module was not loaded here");
        loader_unref_plugin(l);
    }
    probe_run_free(trial);
    ok(tap_wait(has_no_children, NULL, 5000), "no process is left");
}

static void test_trial(void)
{
    struct probe_run *trial = probe_run_new();
    struct probe_candidate *const one = probe_run_add_file(trial, module_path("recorder"));
    struct probe_candidate *const other = probe_run_add_file(trial, module_path("recorder"));
    struct probe_candidate *const none = probe_run_add_file(trial, temp("nothing.so"));
    ok(one == other && one != none, "a file is probed once, however often it is named");
    probe_run_execute(trial);
    struct loaded_plugin *const a = probe_run_take_result(trial, one, &err);
    struct loaded_plugin *const b = probe_run_take_result(trial, other, &err);
    ok(a && a == b, "each name has the result of the probe");
    ok(!probe_run_take_result(trial, none, &err) && strstr(err.text, "No such file"),
       "a missing file does not affect others: %s", err.text);
    probe_run_free(trial);
    is_str(a->plugin.name, "recorder", "the result outlives the probe");
    loader_unref_plugin(a);
    loader_unref_plugin(b);
    trial = probe_run_new(); /* its result is never requested */
    probe_run_add_file(trial, module_path("loads_hangs"));
    probe_run_execute(trial);
    probe_run_free(trial);
    ok(tap_wait(has_no_children, NULL, 4000), "a probe that is freed early leaves no process");
}

/* ---- the file ---- */

static void test_not_regular(void)
{
    refused(tap_tmpdir(), "is not a regular file", "a directory");
    mkfifo(temp("fifo.so"), 0600);
    refused(temp("fifo.so"), "is not a regular file", "a FIFO");
    if (symlink(module_path("recorder"), temp("link.so")) == 0)
        refused(temp("link.so"), "is a symbolic link", "a symbolic link");
    refused(temp("none.so"), "No such file or directory", "a missing file");
    refused("/dev/null", "is not a regular file", "a device");
}

static void test_not_elf(void)
{
    tap_spew(temp("empty.so"), "", 0);
    refused(temp("empty.so"), "is not an ELF module: only 0 bytes long", "an empty file");
    const char script[] = "#!/bin/sh\necho this is a script, and long enough to have a header\n";
    tap_spew(temp("script.so"), script, sizeof script - 1);
    refused(temp("script.so"), "is not an ELF module (no \\177ELF at its beginning)", "a script");
}

/* A valid module in memory, to be damaged. */
struct image {
    char *text;
    size_t len;
    ElfW(Ehdr) * header;
    ElfW(Phdr) * segments;
};

static struct image read_image(void)
{
    struct image im;
    im.text = tap_slurp(module_path("recorder"), &im.len);
    im.header = (void *)im.text;
    im.segments = (void *)(im.text + im.header->e_phoff);
    return im;
}

static ElfW(Phdr) * segment(const struct image *im, unsigned type)
{
    for (size_t i = 0; i < im->header->e_phnum; i++)
        if (im->segments[i].p_type == type)
            return &im->segments[i];
    bail("no segment of type %u", type);
}

/* The number of bytes that the file must have. */
static size_t needed(const struct image *im)
{
    size_t most = 0;
    for (size_t i = 0; i < im->header->e_phnum; i++) {
        const ElfW(Phdr) *const s = &im->segments[i];
        if (s->p_type == PT_LOAD && s->p_offset + s->p_filesz > most)
            most = s->p_offset + s->p_filesz;
    }
    return most;
}

static void cut_header(struct image *im)
{
    im->len = sizeof *im->header - 1;
}

static void cut_table(struct image *im)
{
    im->len = im->header->e_phoff + 1;
}

static void cut_dynamic(struct image *im)
{
    im->len = segment(im, PT_DYNAMIC)->p_offset + 1;
}

static void cut_last(struct image *im)
{
    im->len = needed(im) - 1;
}

static void set_machine(struct image *im)
{
    im->header->e_machine = EM_S390;
}

static void set_class(struct image *im)
{
    im->header->e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS32 : ELFCLASS64;
}

static void set_order(struct image *im)
{
    im->header->e_ident[EI_DATA] = 3;
}

static void set_type(struct image *im)
{
    im->header->e_type = ET_EXEC;
}

static void set_number(struct image *im)
{
    im->header->e_phnum = 200;
}

static void set_table(struct image *im)
{
    im->header->e_phoff = UINT64_MAX - 8;
}

static void move_beyond(struct image *im)
{
    segment(im, PT_LOAD)->p_offset = UINT64_MAX - 4095;
}

static void fill_file(struct image *im)
{
    segment(im, PT_LOAD)->p_filesz = segment(im, PT_LOAD)->p_memsz = (size_t)1 << 29;
}

static void fill_memory(struct image *im)
{
    segment(im, PT_LOAD)->p_memsz = (size_t)1 << 46;
}

static void load_nothing(struct image *im)
{
    for (size_t i = 0; i < im->header->e_phnum; i++)
        if (im->segments[i].p_type == PT_LOAD)
            im->segments[i].p_type = PT_NULL;
}

/* Damage that only the dynamic linker detects, in the other process. */
static void spoil_dynamic(struct image *im)
{
    const ElfW(Phdr) *const s = segment(im, PT_DYNAMIC);
    memset(im->text + s->p_offset, 0x5a, s->p_filesz - sizeof(ElfW(Dyn)));
}

static void spoil_relocations(struct image *im)
{
    const ElfW(Phdr) *const s = segment(im, PT_DYNAMIC);
    ElfW(Dyn) *const rows = (void *)(im->text + s->p_offset);
    for (size_t i = 0; i < s->p_filesz / sizeof *rows; i++)
        if (rows[i].d_tag == DT_RELA || rows[i].d_tag == DT_SYMTAB || rows[i].d_tag == DT_STRTAB)
            rows[i].d_un.d_ptr = (ElfW(Addr))1 << 44;
}

static void test_damaged(void)
{
    static const struct {
        void (*damage)(struct image *im);
        const char *why, *what;
    } rows[] = {
        {cut_header, "is not an ELF module: only ", "a truncated header"},
        {cut_table, "file is truncated: the segment table is missing", "a truncated segment table"},
        {cut_dynamic, "is truncated: ", "a truncated dynamic section"},
        {cut_last, "is truncated: ", "a file without its last byte"},
        {set_machine, "is for machine s390 (22), but turncast", "another machine"},
        {set_class, "-bit module", "another word size"},
        {set_order, "has the wrong byte order for this machine", "another byte order"},
        {set_type, "has ELF type 2", "a program"},
        {set_number, "has a damaged ELF header", "an invalid number of segments"},
        {set_table, "file is truncated: the segment table is missing", "a table beyond the file"},
        {move_beyond, "is truncated: ", "a segment beyond the file"},
        {fill_file, "is truncated: ", "a segment larger than the file"},
        {fill_memory, "is damaged: a segment needs ", "a segment larger than memory"},
        {load_nothing, "has no loadable segment", "a module without segments"},
        {spoil_dynamic, "loading crashes with signal", "a damaged dynamic section"},
        {spoil_relocations, "loading crashes with signal", "invalid relocation tables"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct image im = read_image();
        rows[i].damage(&im);
        tap_spew(temp("damaged.so"), im.text, im.len);
        free(im.text);
        refused(temp("damaged.so"), rows[i].why, rows[i].what);
    }
}

/* Every length below the end of the loadable segments. */
static void test_truncated(void)
{
    const struct image im = read_image();
    const size_t whole = needed(&im);
    bool all = whole > 0;
    for (size_t len = 0; len < whole && all; len += 97) {
        tap_spew(temp("cut.so"), im.text, len);
        struct loaded_plugin *const l = loader_probe_file(temp("cut.so"), &err);
        all = !l;
        loader_unref_plugin(l);
    }
    ok(all, "a module of %zu bytes that is truncated anywhere is refused", whole);
    free(im.text);
}

/* Flips single bits: crashes happen in the other process only. */
static void test_flipped(void)
{
    struct image im = read_image();
    const size_t whole = needed(&im), step = whole / 61;
    unsigned said = 0, tried = 0;
    for (size_t at = 5; at < whole; at += step, tried++) {
        err = (struct tc_err){0};
        im.text[at] ^= 0x10;
        tap_spew(temp("flipped.so"), im.text, im.len);
        im.text[at] ^= 0x10;
        struct loaded_plugin *const l = loader_probe_file(temp("flipped.so"), &err);
        said += l || (err.text[0] && !strchr(err.text, '\n'));
        loader_unref_plugin(l);
    }
    ok(said == tried && tried > 60, "with a flipped bit it is described or refused (%u)", tried);
    free(im.text);
}

static void test_unreadable(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s", temp("unreadable.so"));
    copy(module_path("recorder"), path, SIZE_MAX);
    chmod(path, 0);
    if (access(path, R_OK) == 0)
        skip(5, "root can read every file");
    else
        refused(path, "cannot open: Permission denied", "a file that cannot be read");
}

static void test_writable(void)
{
    char path[512], why[600];
    snprintf(path, sizeof path, "%s", temp("open.so"));
    copy(module_path("recorder"), path, SIZE_MAX);
    chmod(path, 0664);
    snprintf(why, sizeof why, "is writable by other users; run: chmod go-w %s", path);
    refused(path, why, "a file that its group may write to");
    chmod(path, 0606);
    refused(path, why, "a file that everybody may write to");
    chmod(path, 0644);
    struct loaded_plugin *const l = probe_and_load(path);
    ok(l != NULL, "the file is loaded without that permission");
    loader_unref_plugin(l);

    mkdir(temp("open"), 0777);
    chmod(temp("open"), 0777);
    snprintf(path, sizeof path, "%s", temp("open/a.so"));
    copy(module_path("recorder"), path, SIZE_MAX);
    snprintf(why, sizeof why, "directory %s is writable by other users; run: ", temp("open"));
    refused(path, why, "a folder that everybody may write to");
}

static void add_name(void *ctx, const char *path)
{
    buf_printf(ctx, "%s ", strrchr(path, '/') + 1);
}

static void test_find(void)
{
    mkdir(temp("one"), 0755);
    mkdir(temp("two"), 0755);
    copy(module_path("recorder"), temp("two/recorder.so"), SIZE_MAX);
    copy(module_path("recorder"), temp("two/abc.so"), SIZE_MAX);
    tap_spew(temp("two/readme.txt"), "x", 1);
    tap_spew(temp("two/.hidden.so"), "x", 1);
    char one[512], two[512];
    snprintf(one, sizeof one, "%s", temp("one"));
    snprintf(two, sizeof two, "%s", temp("two"));
    const char *const dirs[] = {one, two, NULL};

    struct loaded_plugin *l = loader_probe_by_name("recorder", dirs, &err);
    ok(l && strcmp(l->path, temp("two/recorder.so")) == 0, "found in the second folder");
    loader_unref_plugin(l);
    l = loader_probe_by_name(temp("two/abc.so"), dirs, &err);
    ok(l != NULL, "a plugin is found by its path");
    loader_unref_plugin(l);
    ok(!loader_probe_by_name("nobody", dirs, &err), "an unknown name is refused");
    has_str(err_format(&err), "nobody: plugin not found: no nobody.so in ",
            "the error has the first folder");
    has_str(err_format(&err), two, "the error names the second folder");
    const char *const none[] = {NULL};
    ok(!loader_probe_by_name("nobody", none, &err), "a name without folders is refused");

    CLEANUP_BUF struct buf names = {0};
    loader_list_files(dirs, add_name, &names);
    is_str(names.p, "abc.so recorder.so ", "a scan returns the modules in order");
}

/* At every number of descriptors that is too small. */
static void test_out_of_descriptors(void)
{
    struct rlimit was;
    bool told = true, passed = false;
    getrlimit(RLIMIT_NOFILE, &was);
    for (rlim_t n = 3; n < 24 && told && !passed; n++) {
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){n, was.rlim_max});
        err = (struct tc_err){0};
        struct loaded_plugin *const l = loader_probe_file(module_path("recorder"), &err);
        setrlimit(RLIMIT_NOFILE, &was);
        passed = l != NULL;
        told = l || err.text[0];
        loader_unref_plugin(l);
    }
    ok(told && passed, "without descriptors the loader reports it, and works later: %s", err.text);
}

static unsigned count_fds(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

int main(void)
{
    plan_lazy();
    umask(022);
    const unsigned before = count_fds();
    test_constants();
    test_loading();
    test_trial();
    test_not_regular();
    test_not_elf();
    test_damaged();
    test_truncated();
    test_flipped();
    test_unreadable();
    test_out_of_descriptors();
    is_int(count_fds(), before, "a refused module leaves no descriptor open");
    test_good();
    test_described();
    test_swapped();
    test_old();
    test_rates();
    test_writable();
    test_find();
}
