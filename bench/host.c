/* SPDX-License-Identifier: MIT
 * Owns the host that is measured, and the folder it works in. */
#include "bench/host.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/abi/connector_program.h"

#define START_MS 20000

/* ---- its files ---- */

static const char *build_folder(void)
{
    const char *const own = getenv("TURNCAST_BUILDDIR");
    return own ? own : ".";
}

static char *absolute(const char *name)
{
    char relative[500];
    snprintf(relative, sizeof relative, "%s/%s", build_folder(), name);
    char *const path = realpath(relative, NULL);
    if (!path)
        err(2, "%s (run it in the build tree)", relative);
    return path;
}

static FILE *open_in(const struct oneshot_host *h, const char *name, const char *mode)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", h->folder, name);
    FILE *const f = fopen(path, mode);
    if (!f)
        err(2, "%s", path);
    return f;
}

static void make_folder(struct oneshot_host *h)
{
    const char *const tmp = getenv("TMPDIR");
    snprintf(h->folder, sizeof h->folder, "%s/turncast-bench.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(h->folder))
        err(2, "%s", h->folder);
}

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *at)
{
    (void)st;
    (void)what;
    (void)at;
    return remove(path);
}

static void map_meter(struct oneshot_host *h)
{
    FILE *const f = open_in(h, "meter", "w+");
    if (ftruncate(fileno(f), sizeof *h->meter) < 0)
        err(2, "meter");
    h->meter = mmap(NULL, sizeof *h->meter, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
    if (h->meter == MAP_FAILED)
        err(2, "meter");
    fclose(f);
}

/* A copy: the same file again would be the same module. */
static void copy_connector(const struct oneshot_host *h, unsigned number)
{
    char *const from = absolute("bench/meter.so"), name[40], bytes[4096];
    snprintf(name, sizeof name, "meter%u.so", number);
    FILE *const in = fopen(from, "re"), *const out = open_in(h, name, "we");
    if (!in)
        err(2, "%s", from);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        fwrite(bytes, 1, n, out);
    if (ferror(in) || fclose(out) != 0)
        err(2, "%s", name);
    fclose(in);
    free(from);
}

static void write_connectors(const struct oneshot_host *h, const struct host_spec *spec, FILE *f)
{
    fputs("plugins : { instances : {\n", f);
    for (unsigned i = 0; i < spec->connectors; i++) {
        copy_connector(h, i);
        fprintf(f,
                "  meter%u : { plugin = \"%s/meter%u.so\"; isolation = \"%s\"; "
                "path = \"%s/meter\"; paths = [\"%s\"]; };\n",
                i, h->folder, i, spec->isolation, h->folder, h->folder);
    }
    fputs("}; };\n", f);
}

static void write_conf(const struct oneshot_host *h, const struct host_spec *spec)
{
    char *const ticker = absolute("bench/ticker");
    FILE *const f = open_in(h, "turncast.conf", "w");
    fprintf(f,
            "agents : { ticker : { command = [\"%s\", \"%u\", \"%u\"]; exit_grace_s = 1; }; };\n",
            ticker, spec->seconds, spec->rate);
    write_connectors(h, spec, f);
    fprintf(f,
            "conversations : { max_turns = %u; per_user = %u; debounce_ms = 0; drain_s = 1; };\n",
            spec->turns + 1, spec->turns + 1);
    fprintf(f, "http : { listen = \"127.0.0.1:0\"; };\n");
    fprintf(f, "state_directory = \"%s/state\";\nlog : { level = \"info\"; };\n", h->folder);
    fclose(f);
    free(ticker);
}

/* ---- its process ---- */

static void become_host(const struct oneshot_host *h)
{
    char *const program = absolute("turncast");
    char conf[300], log[300];
    snprintf(conf, sizeof conf, "%s/turncast.conf", h->folder);
    snprintf(log, sizeof log, "%s/log", h->folder);
    if (!freopen(log, "w", stderr))
        _exit(126);
    execl(program, program, "serve", "-c", conf, (char *)NULL);
    warn("%s", program);
    _exit(127);
}

static unsigned read_port(const struct oneshot_host *h)
{
    char line[1000];
    unsigned port = 0;
    FILE *const f = open_in(h, "log", "r");
    while (!port && fgets(line, sizeof line, f)) {
        const char *const at = strstr(line, "listening on port ");
        if (at)
            port = (unsigned)strtoul(at + strlen("listening on port "), NULL, 10);
    }
    fclose(f);
    return port;
}

static void await_port(struct oneshot_host *h)
{
    for (int ms = 0; !(h->port = read_port(h)); ms += 20) {
        if (ms > START_MS || waitpid(h->pid, NULL, WNOHANG) != 0)
            errx(2, "turncast serve did not start: see %s/log", h->folder);
        usleep(20 * 1000);
    }
}

void host_prepare(struct oneshot_host *h, const struct host_spec *spec)
{
    make_folder(h);
    map_meter(h);
    write_conf(h, spec);
}

void oneshot_host_start(struct oneshot_host *h, const struct host_spec *spec)
{
    host_prepare(h, spec);
    fclose(open_in(h, "log", "w"));
    h->pid = fork();
    if (h->pid < 0)
        err(2, "fork");
    if (h->pid == 0)
        become_host(h);
    await_port(h);
}

void host_forget(struct oneshot_host *h)
{
    munmap(h->meter, sizeof *h->meter);
    nftw(h->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int oneshot_host_stop(struct oneshot_host *h)
{
    int status = -1;
    kill(h->pid, SIGTERM);
    waitpid(h->pid, &status, 0);
    if (status == 0)
        host_forget(h);
    return status == 0 ? 0 : -1;
}

/* ---- what it uses ---- */

static FILE *open_proc(const struct oneshot_host *h, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)h->pid, name);
    return fopen(path, "re");
}

/* On a core, and ready to run without getting one. */
struct thread_use {
    double runs, waits;
};

static struct thread_use look_at_thread(const struct oneshot_host *h, const char *tid)
{
    char name[300];
    struct thread_use use = {0};
    snprintf(name, sizeof name, "task/%s/schedstat", tid);
    FILE *const f = open_proc(h, name);
    if (f && fscanf(f, "%lf %lf", &use.runs, &use.waits) != 2)
        use = (struct thread_use){0};
    if (f)
        fclose(f);
    return use;
}

static void look_at_threads(const struct oneshot_host *h, struct host_use *use)
{
    char path[100];
    snprintf(path, sizeof path, "/proc/%d/task", (int)h->pid);
    DIR *const tasks = opendir(path);
    for (const struct dirent *e; tasks && (e = readdir(tasks));) {
        if (*e->d_name == '.')
            continue;
        const struct thread_use one = look_at_thread(h, e->d_name);
        const bool is_loop = atoi(e->d_name) == h->pid;
        *(is_loop ? &use->loop : &use->threads) += one.runs / 1e9;
        use->loop_waited += is_loop ? one.waits / 1e9 : 0;
    }
    if (tasks)
        closedir(tasks);
}

static void look_at_memory(const struct oneshot_host *h, struct host_use *use)
{
    char line[300];
    FILE *const f = open_proc(h, "status");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "VmRSS:", 6) == 0)
            use->rss = strtol(line + 6, NULL, 10);
        if (strncmp(line, "VmHWM:", 6) == 0)
            use->rss_peak = strtol(line + 6, NULL, 10);
    }
    if (f)
        fclose(f);
}

/* Of the children it has waited for: fields 16 and 17 of stat, of which 3 is behind the name. */
static void look_at_agents(const struct oneshot_host *h, struct host_use *use)
{
    char line[2000];
    FILE *const f = open_proc(h, "stat");
    const char *at = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    for (int field = 2; at && field < 16; field++)
        at = strchr(at + 1, ' ');
    if (at) {
        char *end;
        const double user = strtod(at, &end);
        use->agents = (user + strtod(end, NULL)) / (double)sysconf(_SC_CLK_TCK);
    }
    if (f)
        fclose(f);
}

/* Of the children that are connectors, which have one thread each. */
static double look_at_connectors(const struct oneshot_host *h)
{
    char name[100], line[100] = "";
    double ns = 0;
    snprintf(name, sizeof name, "task/%d/children", (int)h->pid);
    FILE *const children = open_proc(h, name);
    for (int pid; children && fscanf(children, "%d", &pid) == 1;) {
        const struct oneshot_host child = {.pid = pid};
        FILE *const f = open_proc(&child, "cmdline");
        const size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
        if (n && memmem(line, n, CONNECTOR_PROGRAM, strlen(CONNECTOR_PROGRAM)))
            ns += look_at_thread(&child, (snprintf(name, sizeof name, "%d", pid), name)).runs;
        if (f)
            fclose(f);
    }
    if (children)
        fclose(children);
    return ns / 1e9;
}

struct host_use host_look(const struct oneshot_host *h)
{
    struct host_use use = {0};
    look_at_threads(h, &use);
    look_at_memory(h, &use);
    look_at_agents(h, &use);
    use.connectors = look_at_connectors(h);
    return use;
}
