/* SPDX-License-Identifier: MIT
 * Checks of the machine: state directory, disk, port, clock, kernel features. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/plural.h"
#include "base/sys/crash_point.h"
#include "cli/control_client.h"
#include "cli/inspect/doctor/doctor.h"
#include "io/http/client/httpc.h"
#include "io/journal/journal.h"
#include "io/sandbox/sandbox.h"
#include "io/store/store_dir.h"
#include "io/websocket/websocket.h"

#define DISK_WARN ((uint64_t)200 << 20)
#define DISK_FAIL ((uint64_t)20 << 20)
#define BUILT_AFTER 1767225600 /* 2026: an earlier time means that the clock is wrong */
#define FILES_WANTED 4096

/* ---- the host ---- */

void doctor_check_host(struct doctor *d)
{
    struct tc_err err = {0};
    struct control_response c = {0};
    if (control_client_request(&c, d->conf, "GET", "/status", NULL, &err) < 0) {
        doctor_report(d, FINDING_ERROR, "host", "%s", err_format(&err));
        doctor_suggest(d, "turncast serve is hung, or runs as another user; check with: ps -C "
                          "turncast -o pid,user,stat");
        return;
    }
    d->host_runs = c.status == 200;
    d->host_port = (int)json_integer_value(json_object_get(c.body, "port"));
    if (d->host_runs)
        doctor_report(d, FINDING_OK, "host",
                      "turncast serve is running (process %" JSON_INTEGER_FORMAT ")",
                      json_integer_value(json_object_get(c.body, "pid")));
    else
        doctor_report(d, FINDING_OK, "host", "turncast serve is not running");
    control_client_fini(&c);
}

/* ---- the state ---- */

static void doctor_host_check_dead_letters(struct doctor *d)
{
    struct tc_err err = {0};
    struct journal_stats s;
    struct journal *const j =
        journal_open(&(struct journal_spec){.dir = d->conf->state_dir, .beside = true}, &err);
    if (!j) {
        doctor_report(d, FINDING_ERROR, "store", "%s", err_format(&err));
        return;
    }
    if (journal_read_stats(j, &s) != JOURNAL_DONE) {
        doctor_report(d, FINDING_ERROR, "store", "cannot read the journal");
    } else if (s.dead) {
        doctor_report(d, FINDING_WARNING, "store", "%" PRId64 " dead letter%s", s.dead,
                      PLURAL(s.dead, "", "s"));
        doctor_suggest(d, "run: turncast dead list; then retry or drop them");
    } else {
        doctor_report(d, FINDING_OK, "store", "outbox: %" PRId64 " undelivered",
                      s.queued + s.in_flight);
    }
    journal_close(j);
}

/* The lock is held by a host; otherwise takes it and releases it unchanged. */
static void doctor_host_check_lock(struct doctor *d)
{
    struct tc_err err = {0};
    struct store_dir dir;
    if (d->host_runs) {
        doctor_report(d, FINDING_OK, "state", "%s is in use by the running turncast serve",
                      d->conf->state_dir);
        return;
    }
    if (store_dir_init(&dir, d->conf->state_dir, &err) < 0) {
        doctor_report(d, FINDING_ERROR, "state", "%s", err_format(&err));
        doctor_suggest(d,
                       "state_directory must be a directory on a local disk, owned by this user");
        return;
    }
    doctor_report(d, FINDING_OK, "state", "%s is writable", d->conf->state_dir);
    store_dir_fini(&dir, !dir.unclean);
}

/* The directory, or its nearest existing parent. Owned. */
static char *doctor_host_nearest_directory(const char *path)
{
    char *const at = xstrdup(path);
    while (access(at, F_OK) < 0) {
        char *const slash = strrchr(at, '/');
        if (!slash || slash == at)
            break;
        *slash = 0;
    }
    return at;
}

static void doctor_host_check_disk(struct doctor *d, const char *at)
{
    struct statvfs fs;
    if (statvfs(at, &fs) < 0)
        return;
    const uint64_t left = (uint64_t)fs.f_bavail * fs.f_frsize;
    const enum finding_level grade = left < DISK_FAIL   ? FINDING_ERROR
                                     : left < DISK_WARN ? FINDING_WARNING
                                                        : FINDING_OK;
    doctor_report(d, grade, "disk", "%" PRIu64 " MiB free in %s", left >> 20, at);
    if (grade != FINDING_OK)
        doctor_suggest(
            d, "free disk space: new messages are refused while the journal cannot be written");
}

void doctor_check_state(struct doctor *d)
{
    const char *const dir = d->conf->state_dir;
    CLEANUP_FREE char *at = doctor_host_nearest_directory(dir);
    CLEANUP_FREE char *file = xasprintf("%s/state.db", dir);
    if (access(dir, F_OK) == 0) {
        doctor_host_check_lock(d);
    } else if (access(at, W_OK) == 0) {
        doctor_report(d, FINDING_OK, "state", "%s does not exist yet; it will be created", dir);
    } else {
        doctor_report(d, FINDING_ERROR, "state", "cannot create %s: %s", dir, strerror(errno));
        doctor_suggest(d, "create it, owned by this user, or set state_directory to another path");
    }
    if (access(file, F_OK) == 0)
        doctor_host_check_dead_letters(d);
    doctor_host_check_disk(d, at);
}

/* ---- sessions that hosts share ---- */

static bool doctor_host_runs_agents(const struct doctor *d)
{
    for (size_t i = 0; i < d->conf->n_agents; i++)
        if (conf_agent_runs_here(d->conf, &d->conf->agents[i]))
            return true;
    return false;
}

/* The state directory is on a local disk. */
static bool doctor_host_is_on_local_disk(const struct doctor *d, dev_t device)
{
    struct stat state;
    CLEANUP_FREE char *at = doctor_host_nearest_directory(d->conf->state_dir);
    return stat(at, &state) == 0 && state.st_dev == device;
}

/* Agents keep their sessions there; the host itself does not use it. */
void doctor_check_sessions(struct doctor *d)
{
    const char *const dir = d->conf->sessions_shared;
    struct stat st;
    if (!dir)
        return;
    if (!doctor_host_runs_agents(d)) {
        doctor_report(d, FINDING_OK, "sessions",
                      "%s is not needed here: no agent runs on this host", dir);
        return;
    }
    const int error = stat(dir, &st) < 0                    ? errno
                      : !S_ISDIR(st.st_mode)                ? ENOTDIR
                      : access(dir, R_OK | W_OK | X_OK) < 0 ? errno
                                                            : 0;
    if (error) {
        doctor_report(d, FINDING_ERROR, "sessions", "agents cannot keep sessions in %s: %s", dir,
                      strerror(error));
        doctor_suggest(d, "mount it and let this user write there, or remove sessions.shared");
    } else if (doctor_host_is_on_local_disk(d, st.st_dev)) {
        doctor_report(
            d, FINDING_WARNING, "sessions",
            "%s is on the disk of the state directory, where other machines cannot see it", dir);
        doctor_suggest(d,
                       "mount a network file system there, unless all hosts are on this machine");
    } else {
        doctor_report(
            d, FINDING_OK, "sessions",
            "%s is writable; not checked: whether the other hosts have the same directory, "
            "and whether the agents keep their sessions there",
            dir);
    }
}

/* ---- HTTP ---- */

/* Whether the host could listen at the address. */
static bool doctor_host_is_address_free(const char *listen)
{
    const char *const colon = strrchr(listen, ':');
    const bool v6 = *listen == '[';
    CLEANUP_FREE char *host = xstrndup(listen + v6, (size_t)(colon - listen) - 2 * (size_t)v6);
    const uint16_t port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    struct sockaddr_in at4 = {.sin_family = AF_INET, .sin_port = port};
    struct sockaddr_in6 at6 = {.sin6_family = AF_INET6, .sin6_port = port};
    inet_pton(AF_INET, host, &at4.sin_addr);
    inet_pton(AF_INET6, host, &at6.sin6_addr);
    CLEANUP_FD const int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    return fd >= 0 && (v6 ? bind(fd, (const struct sockaddr *)&at6, sizeof at6)
                          : bind(fd, (const struct sockaddr *)&at4, sizeof at4)) == 0;
}

static void doctor_host_check_port(struct doctor *d, const char *listen)
{
    const int port = (int)strtol(strrchr(listen, ':') + 1, NULL, 10);
    if (d->host_runs && d->host_port && (d->host_port == port || !port))
        doctor_report(d, FINDING_OK, "http", "turncast serve is listening on port %d",
                      d->host_port);
    else if (doctor_host_is_address_free(listen))
        doctor_report(d, FINDING_OK, "http", "%s is available", listen);
    else {
        doctor_report(d, FINDING_ERROR, "http", "%s: %s", listen, strerror(errno));
        doctor_suggest(d,
                       "run: ss -ltnp (shows which process uses the port), or change http.listen");
    }
}

void doctor_check_http(struct doctor *d)
{
    const struct conf_http *const http = &d->conf->http;
    if (!http->listen) {
        doctor_report(d, FINDING_OK, "http", "HTTP server disabled (http.listen is not set)");
        return;
    }
    doctor_host_check_port(d, http->listen);
    if (!http->n_keys) {
        doctor_report(d, FINDING_WARNING, "http", "no keys: every local user has full access");
        doctor_suggest(d, "define keys in http.keys");
    }
    if (http->remote) {
        doctor_report(d, FINDING_WARNING, "http", "%s is reachable from other machines without TLS",
                      http->listen);
        doctor_suggest(d, "listen on a loopback address behind a TLS reverse proxy");
    }
}

/* ---- the machine ---- */

static void doctor_host_check_clock(struct doctor *d)
{
    struct timex t = {0};
    const int state = adjtimex(&t);
    if (time(NULL) < BUILT_AFTER) {
        doctor_report(d, FINDING_ERROR, "clock", "system clock is earlier than the build date");
        doctor_suggest(d, "set the clock; TLS and request signatures depend on it");
    } else if (state == TIME_ERROR || (t.status & STA_UNSYNC)) {
        doctor_report(d, FINDING_WARNING, "clock", "system clock is not synchronised (NTP)");
        doctor_suggest(d, "run: timedatectl set-ntp true");
    } else {
        doctor_report(d, FINDING_OK, "clock", "synchronised (NTP)");
    }
}

static void doctor_host_check_libraries(struct doctor *d)
{
    struct tc_err err = {0};
    const bool http = httpc_check_available(&err) == 0;
    doctor_report(d, http ? FINDING_OK : FINDING_ERROR, "libcurl", "%s",
                  http ? "requests to services" : err_format(&err));
    if (!http)
        doctor_suggest(d, "run: apt-get install libcurl4");
    const bool ws = websocket_check_available(&err) == 0;
    doctor_report(d, ws ? FINDING_OK : FINDING_WARNING, "libwebsockets", "%s",
                  ws ? "Slack's Socket Mode, Discord's gateway" : err_format(&err));
    if (!ws)
        doctor_suggest(d,
                       "run: apt-get install libwebsockets17 (needed for Slack Socket Mode only)");
}

static void doctor_host_check_limits(struct doctor *d)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return;
    const bool few = files.rlim_max != RLIM_INFINITY && files.rlim_max < FILES_WANTED;
    doctor_report(d, few ? FINDING_WARNING : FINDING_OK, "open files", "limit %" PRIu64,
                  (uint64_t)files.rlim_max);
    if (few)
        doctor_suggest(d,
                       "raise it to 4096 or more (ulimit -Hn, or LimitNOFILE= in the unit); a turn "
                       "uses about 10");
}

static void doctor_host_check_build(struct doctor *d)
{
    if (!*crash_point_names)
        return;
    doctor_report(d, FINDING_WARNING, "program",
                  "built with --enable-crash-points; do not use in production");
    doctor_suggest(d, "rebuild without --enable-crash-points");
}

static void doctor_host_check_isolation(struct doctor *d)
{
    const struct sandbox_features kernel = sandbox_probe_kernel();
    CLEANUP_FREE char *landlock = sandbox_describe_landlock_gaps(&kernel, true);
    const char *const seccomp = sandbox_describe_seccomp_gaps(&kernel);
    if (landlock) {
        doctor_report(d, FINDING_WARNING, "isolation", "%s", landlock);
        doctor_suggest(
            d, kernel.landlock
                   ? "use Linux 6.7 or later, which also restricts ports"
                   : "use Linux 6.7 or later, and include landlock in the lsm= boot parameter");
    }
    if (seccomp) {
        doctor_report(d, FINDING_WARNING, "isolation", "%s", seccomp);
        doctor_suggest(d,
                       "use a kernel built with CONFIG_SECCOMP_FILTER (all major distributions)");
    }
    if (!landlock && !seccomp)
        doctor_report(d, FINDING_OK, "isolation", "Landlock (version %d) and seccomp",
                      kernel.landlock);
}

void doctor_check_system(struct doctor *d)
{
    doctor_host_check_build(d);
    doctor_host_check_clock(d);
    doctor_host_check_libraries(d);
    doctor_host_check_limits(d);
    doctor_host_check_isolation(d);
}
