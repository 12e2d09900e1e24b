/* SPDX-License-Identifier: MIT
 * An agent for tests. It executes its arguments in order, then exits with status 0.
 *
 * - play=FILE prints FILE in pieces of `chunk` bytes; chunk=N sets their size (4096)
 * - text=LINE prints LINE and a newline, partial=TEXT without the newline
 * - line=N prints a line of N bytes 'x', json=N the same as a JSON string
 * - cut=N,OF prints the first N bytes of a result line of OF bytes
 * - noise=N prints N bytes of short valid lines
 * - stderr=N writes N bytes to stderr, errtext=LINE a line
 * - echo=N reads N lines of stdin and prints them
 * - eof reads stdin to its end, save=FILE copies it to FILE
 * - await=TEXT reads stdin until a line contains TEXT; tee=FILE writes the read lines to FILE
 * - ack=STATE prints a line command_lifecycle with uuid or message_uuid of the line found by await
 * - close=FD closes a descriptor
 * - exit=N exits, kill=SIGNO kills itself
 * - ignore=SIGNO ignores a signal; print_on=SIGNO prints a result on it and exits with status 0
 * - sleep sleeps for ever, ms=N for N milliseconds
 * - child=KIND starts a descendant that keeps the pipes open, ignores SIGTERM and sleeps: plain,
 *   setsid, orphan (its parent has exited), double (orphan with setsid), loud (it writes)
 * - children=N starts N descendants, every second one in its own session
 * - hoppers=N starts N descendants that fork and exit for ever, every second one into a new session
 * - bomb=N starts descendants that fork for ever, until there are N more of them
 * - parent=SIGNO sends a signal to its parent
 * - dump=FILE writes arguments, environment, descriptors, directory, umask and signals as JSON
 * - count=FILE counts the runs in FILE; on=N executes the following only in run N (on=0: in all)
 * - mark=WORD is ignored; WORD is in the command line of the agent and of every child */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static size_t chunk = 4096;
static int run, only;

static void put(int fd, const char *p, size_t n)
{
    while (n) {
        const size_t piece = n < chunk ? n : chunk;
        const ssize_t put_now = write(fd, p, piece);
        if (put_now < 0)
            _exit(88);
        p += put_now;
        n -= (size_t)put_now;
    }
}

static void put_str(const char *s)
{
    put(1, s, strlen(s));
}

static void put_many(int fd, char c, unsigned long long n)
{
    static char block[1 << 16];
    memset(block, c, sizeof block);
    const size_t old = chunk;
    chunk = sizeof block;
    for (; n > sizeof block; n -= sizeof block)
        put(fd, block, sizeof block);
    put(fd, block, (size_t)n);
    chunk = old;
}

static void sleep_for_ever(void)
{
    for (;;)
        pause();
}

static void do_play(const char *value)
{
    FILE *const f = fopen(value, "re");
    if (!f)
        _exit(89);
    char *const piece = malloc(chunk);
    for (size_t n; (n = fread(piece, 1, chunk, f)) > 0;)
        put(1, piece, n);
    free(piece);
    fclose(f);
}

static void do_chunk(const char *value)
{
    chunk = strtoul(value, NULL, 10);
}

static void do_text(const char *value)
{
    put_str(value);
    put_str("\n");
}

static void do_partial(const char *value)
{
    put_str(value);
}

static void do_line(const char *value)
{
    put_many(1, 'x', strtoull(value, NULL, 10));
    put_str("\n");
}

static void do_json(const char *value)
{
    put_str("\"");
    put_many(1, 'x', strtoull(value, NULL, 10));
    put_str("\"\n");
}

static void do_cut(const char *value)
{
    char *end;
    const size_t n = strtoul(value, &end, 10), of = strtoul(end + 1, NULL, 10);
    static const char head[] = "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,"
                               "\"result\":\"";
    char *const text = malloc(of + 1);
    memset(text, 'x', of);
    memcpy(text, head, sizeof head - 1);
    text[of - 2] = '"';
    text[of - 1] = '}';
    put(1, text, n < of ? n : of);
    free(text);
}

static void do_noise(const char *value)
{
    static const char one[] = "{\"type\":\"keep_alive\"}\n";
    for (long long left = strtoll(value, NULL, 10); left > 0; left -= (long long)sizeof one - 1)
        put(1, one, sizeof one - 1);
}

static void do_stderr(const char *value)
{
    put_many(2, 'e', strtoull(value, NULL, 10));
}

static void do_errtext(const char *value)
{
    put(2, value, strlen(value));
    put(2, "\n", 1);
}

static bool read_line(char *line, size_t size)
{
    size_t n = 0;
    for (char c; n + 1 < size && read(0, &c, 1) == 1;) {
        line[n++] = c;
        if (c == '\n')
            break;
    }
    line[n] = '\0';
    return n > 0;
}

static void do_echo(const char *value)
{
    char line[65536];
    for (int i = atoi(value); i > 0 && read_line(line, sizeof line); i--)
        put_str(line);
}

static int tee_fd = -1;

static void do_tee(const char *value)
{
    tee_fd = open(value, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static char awaited[65536];

static void do_await(const char *value)
{
    char *const line = awaited;
    while (read_line(line, sizeof awaited)) {
        if (tee_fd >= 0)
            put(tee_fd, line, strlen(line));
        if (strstr(line, value))
            return;
    }
}

static void do_ack(const char *value)
{
    const char *const uuid = strstr(awaited, "uuid\":\"");
    char line[300];
    snprintf(line, sizeof line,
             "{\"type\":\"command_lifecycle\",\"command_uuid\":\"%.36s\",\"state\":\"%s\"}\n",
             uuid ? uuid + 7 : "-", value);
    put_str(line);
}

static void do_eof(const char *value)
{
    (void)value;
    char piece[4096];
    while (read(0, piece, sizeof piece) > 0)
        ;
}

static void do_save(const char *value)
{
    const int fd = open(value, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char piece[4096];
    for (ssize_t n; (n = read(0, piece, sizeof piece)) > 0;)
        put(fd, piece, (size_t)n);
    close(fd);
}

static void do_close(const char *value)
{
    close(atoi(value));
}

static void do_exit(const char *value)
{
    _exit(atoi(value));
}

static void do_kill(const char *value)
{
    /* no core files in the build tree */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    prctl(PR_SET_DUMPABLE, 0);
    signal(atoi(value), SIG_DFL);
    kill(getpid(), atoi(value));
    sleep_for_ever();
}

static void do_ignore(const char *value)
{
    signal(atoi(value), SIG_IGN);
}

static void print_result(int signo)
{
    (void)signo;
    put_str("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,"
            "\"result\":\"stopped politely\"}\n");
    _exit(0);
}

static void do_print_on(const char *value)
{
    signal(atoi(value), print_result);
}

static void do_sleep(const char *value)
{
    (void)value;
    sleep_for_ever();
}

static void do_ms(const char *value)
{
    const long ms = strtol(value, NULL, 10);
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void be_loud(void)
{
    for (;;)
        put_many(1, 'l', 65536);
}

static void do_child(const char *value)
{
    const pid_t pid = fork();
    if (pid < 0)
        _exit(90);
    if (pid > 0) {
        if (strcmp(value, "double") == 0 || strcmp(value, "orphan") == 0)
            waitpid(pid, NULL, 0);
        return;
    }
    signal(SIGTERM, SIG_IGN);
    const bool is_orphan = strcmp(value, "orphan") == 0;
    if (strcmp(value, "setsid") == 0 || strcmp(value, "double") == 0)
        setsid();
    if ((is_orphan || strcmp(value, "double") == 0) && fork() != 0)
        _exit(0);
    if (strcmp(value, "loud") == 0)
        be_loud();
    sleep_for_ever();
}

static void do_children(const char *value)
{
    for (int i = atoi(value); i > 0; i--)
        do_child(i % 2 ? "setsid" : "plain");
}

/* A process that forks and exits for ever, so its id changes all the time. */
static void do_hoppers(const char *value)
{
    for (int i = atoi(value); i > 0; i--) {
        if (fork() != 0)
            continue;
        for (;;) {
            if (i % 2)
                setsid();
            if (fork() != 0)
                _exit(0);
        }
    }
}

/* Forks until the limit is reached; none of the processes exits. */
static void do_bomb(const char *value)
{
    static unsigned *count;
    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const unsigned max = (unsigned)atoi(value);
    if (count == MAP_FAILED || fork() != 0)
        return;
    signal(SIGTERM, SIG_IGN);
    while (__atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST) < max)
        if (fork() == 0 && *count % 2)
            setsid();
    sleep_for_ever();
}

static void do_parent(const char *value)
{
    kill(getppid(), atoi(value));
}

static void put_json(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\' || c < 0x20)
            fprintf(f, "\\u%04x", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

static void put_list(FILE *f, const char *key, char *const *list)
{
    fprintf(f, "\"%s\":[", key);
    for (size_t i = 0; list[i]; i++) {
        fputs(i ? "," : "", f);
        put_json(f, list[i]);
    }
    fputs("],\n", f);
}

static void put_fds(FILE *f)
{
    DIR *const dir = opendir("/proc/self/fd");
    fputs("\"fds\":[", f);
    bool more = false;
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        const int fd = atoi(e->d_name);
        if (e->d_name[0] == '.' || fd == dirfd(dir) || fd == fileno(f))
            continue;
        fprintf(f, "%s%d", more ? "," : "", fd);
        more = true;
    }
    fputs("],\n", f);
    if (dir)
        closedir(dir);
}

/* Reads a line such as "SigBlk:        0000000000000000" of /proc/self/status. */
static void put_status(FILE *f, const char *name)
{
    FILE *const in = fopen("/proc/self/status", "re");
    char line[256];
    while (in && fgets(line, sizeof line, in))
        if (strncmp(line, name, strlen(name)) == 0)
            fprintf(f, "\"%s\":\"%.16s\",\n", name, line + strlen(name) + 2);
    if (in)
        fclose(in);
}

static char *const *own_argv;

static void do_dump(const char *value)
{
    FILE *const f = fopen(value, "we");
    if (!f)
        _exit(91);
    char cwd[4096];
    fputs("{", f);
    put_list(f, "argv", own_argv);
    put_list(f, "env", environ);
    put_fds(f);
    put_status(f, "SigBlk");
    put_status(f, "SigIgn");
    int death = 0;
    prctl(PR_GET_PDEATHSIG, &death);
    const mode_t mask = umask(077);
    umask(mask);
    fprintf(f, "\"pdeathsig\":%d,\"umask\":%u,\"group\":%s,\"session\":%d,\"cwd\":", death,
            (unsigned)mask, getpgrp() == getpid() ? "true" : "false", (int)getsid(0));
    put_json(f, getcwd(cwd, sizeof cwd) ? cwd : "");
    fputs("}\n", f);
    fclose(f);
}

static void do_count(const char *value)
{
    const int fd = open(value, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, "x", 1) != 1)
        _exit(92);
    run = (int)lseek(fd, 0, SEEK_END);
    close(fd);
}

static void do_nothing(const char *value)
{
    (void)value;
}

static const struct {
    const char *name;
    void (*fn)(const char *value);
} verbs[] = {
    {"play", do_play},       {"chunk", do_chunk},       {"text", do_text},
    {"partial", do_partial}, {"line", do_line},         {"json", do_json},
    {"cut", do_cut},         {"noise", do_noise},       {"stderr", do_stderr},
    {"errtext", do_errtext}, {"echo", do_echo},         {"ack", do_ack},
    {"await", do_await},     {"eof", do_eof},           {"save", do_save},
    {"close", do_close},     {"exit", do_exit},         {"kill", do_kill},
    {"ignore", do_ignore},   {"print_on", do_print_on}, {"sleep", do_sleep},
    {"ms", do_ms},           {"child", do_child},       {"children", do_children},
    {"dump", do_dump},       {"hoppers", do_hoppers},   {"bomb", do_bomb},
    {"parent", do_parent},   {"count", do_count},       {"mark", do_nothing},
    {"tee", do_tee},
};

static void perform(const char *arg)
{
    if (strncmp(arg, "on=", 3) == 0) {
        only = atoi(arg + 3);
        return;
    }
    if (only && only != run)
        return;
    const size_t len = strcspn(arg, "=");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strlen(verbs[i].name) == len && strncmp(verbs[i].name, arg, len) == 0) {
            verbs[i].fn(arg[len] ? arg + len + 1 : "");
            return;
        }
}

int main(int argc, char **argv)
{
    own_argv = argv;
    for (int i = 1; i < argc; i++)
        perform(argv[i]);
    return 0;
}
