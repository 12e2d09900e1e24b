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
#include "base/sys/crash_point.h"
#include "cli/control_client.h"
#include "cli/inspect/doctor.h"
#include "io/http/client/httpc.h"
#include "io/journal/journal.h"
#include "io/sandbox/sandbox.h"
#include "io/store/store_dir.h"
#include "io/websocket/websocket.h"

#define DISK_WARN ((uint64_t)200 << 20)
#define DISK_FAIL ((uint64_t)20 << 20)
#define BUILT_AFTER 1767225600 /* 2026: a clock before that is wrong */
#define FILES_WANTED 4096

/* ---- the host ---- */

void doctor_look_at_host(struct doctor *d)
{
    struct tc_err err = {0};
    struct control_response c = {0};
    if (control_client_request(&c, d->conf, "GET", "/status", NULL, &err) < 0) {
        doctor_report(d, DOCTOR_FAIL, "host", "%s", err_format(&err));
        doctor_suggest("a host that does not answer hangs or belongs to another user");
        return;
    }
    d->host_runs = c.status == 200;
    d->host_port = (int)json_integer_value(json_object_get(c.body, "port"));
    if (d->host_runs)
        doctor_report(d, DOCTOR_OK, "host", "process %" JSON_INTEGER_FORMAT " serves",
                      json_integer_value(json_object_get(c.body, "pid")));
    else
        doctor_report(d, DOCTOR_OK, "host", "none runs");
    control_client_fini(&c);
}

/* ---- the state ---- */

static void look_at_letters(struct doctor *d)
{
    struct tc_err err = {0};
    struct journal_stats s;
    struct journal *const j =
        journal_open(&(struct journal_spec){.dir = d->conf->state_dir, .beside = true}, &err);
    if (!j) {
        doctor_report(d, DOCTOR_FAIL, "store", "%s", err_format(&err));
        return;
    }
    if (journal_read_stats(j, &s) != JOURNAL_DONE) {
        doctor_report(d, DOCTOR_FAIL, "store", "it cannot be read");
    } else if (s.dead) {
        doctor_report(d, DOCTOR_WARN, "store", "%" PRId64 " dead letters", s.dead);
        doctor_suggest("turncast dead list says why; retry or drop them");
    } else {
        doctor_report(d, DOCTOR_OK, "store", "%" PRId64 " rows to be delivered",
                      s.queued + s.in_flight);
    }
    journal_close(j);
}

/* The lock is a host's, or it is taken and given back as it was. */
static void look_at_lock(struct doctor *d)
{
    struct tc_err err = {0};
    struct store_dir dir;
    if (d->host_runs) {
        doctor_report(d, DOCTOR_OK, "state", "%s is the host's", d->conf->state_dir);
        return;
    }
    if (store_dir_init(&dir, d->conf->state_dir, &err) < 0) {
        doctor_report(d, DOCTOR_FAIL, "state", "%s", err_format(&err));
        doctor_suggest("state_directory has to be a folder of this user's own on a local disk");
        return;
    }
    doctor_report(d, DOCTOR_OK, "state", "%s can be written", d->conf->state_dir);
    store_dir_fini(&dir, !dir.unclean);
}

/* The folder, or the first above that is there. Owned. */
static char *existing_above(const char *path)
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

static void look_at_disk(struct doctor *d, const char *at)
{
    struct statvfs fs;
    if (statvfs(at, &fs) < 0)
        return;
    const uint64_t left = (uint64_t)fs.f_bavail * fs.f_frsize;
    const enum doctor_grade grade = left < DISK_FAIL   ? DOCTOR_FAIL
                                    : left < DISK_WARN ? DOCTOR_WARN
                                                       : DOCTOR_OK;
    doctor_report(d, grade, "disk", "%" PRIu64 " MiB are free at %s", left >> 20, at);
    if (grade != DOCTOR_OK)
        doctor_suggest("make room: what cannot be kept is not accepted");
}

void doctor_look_at_state(struct doctor *d)
{
    const char *const dir = d->conf->state_dir;
    CLEANUP_FREE char *at = existing_above(dir);
    CLEANUP_FREE char *file = xasprintf("%s/state.db", dir);
    if (access(dir, F_OK) == 0) {
        look_at_lock(d);
    } else if (access(at, W_OK) == 0) {
        doctor_report(d, DOCTOR_OK, "state", "%s will be made", dir);
    } else {
        doctor_report(d, DOCTOR_FAIL, "state", "%s cannot be made: %s", dir, strerror(errno));
        doctor_suggest("make it for this user, or say state_directory = \"...\"");
    }
    if (access(file, F_OK) == 0)
        look_at_letters(d);
    look_at_disk(d, at);
}

/* ---- HTTP ---- */

/* Whether the address could be listened at. */
static bool is_free(const char *listen)
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

static void look_at_port(struct doctor *d, const char *listen)
{
    const int port = (int)strtol(strrchr(listen, ':') + 1, NULL, 10);
    if (d->host_runs && d->host_port && (d->host_port == port || !port))
        doctor_report(d, DOCTOR_OK, "http", "the host listens at port %d", d->host_port);
    else if (is_free(listen))
        doctor_report(d, DOCTOR_OK, "http", "%s is free", listen);
    else {
        doctor_report(d, DOCTOR_FAIL, "http", "%s: %s", listen, strerror(errno));
        doctor_suggest("ss -ltnp shows who has it; or choose another http.listen");
    }
}

void doctor_look_at_http(struct doctor *d)
{
    const struct conf_http *const http = &d->conf->http;
    if (!http->listen) {
        doctor_report(d, DOCTOR_OK, "http", "no server is configured");
        return;
    }
    look_at_port(d, http->listen);
    if (!http->n_keys) {
        doctor_report(d, DOCTOR_WARN, "http", "every user of this machine may do everything");
        doctor_suggest("name who may in http.keys");
    }
    if (http->remote) {
        doctor_report(d, DOCTOR_WARN, "http", "others reach %s, and there is no TLS", http->listen);
        doctor_suggest("put a proxy with TLS in front, and listen on a loopback address");
    }
}

/* ---- the machine ---- */

static void look_at_clock(struct doctor *d)
{
    struct timex t = {0};
    const int state = adjtimex(&t);
    if (time(NULL) < BUILT_AFTER) {
        doctor_report(d, DOCTOR_FAIL, "clock", "it is in the past");
        doctor_suggest("set it: TLS and signatures of services depend on it");
    } else if (state == TIME_ERROR || (t.status & STA_UNSYNC)) {
        doctor_report(d, DOCTOR_WARN, "clock", "nothing keeps it right");
        doctor_suggest("timedatectl set-ntp true");
    } else {
        doctor_report(d, DOCTOR_OK, "clock", "it is kept right");
    }
}

static void look_at_libraries(struct doctor *d)
{
    struct tc_err err = {0};
    const bool http = httpc_check_available(&err) == 0;
    doctor_report(d, http ? DOCTOR_OK : DOCTOR_FAIL, "libcurl", "%s",
                  http ? "requests to services" : err_format(&err));
    if (!http)
        doctor_suggest("apt-get install libcurl4");
    const bool ws = websocket_check_available(&err) == 0;
    doctor_report(d, ws ? DOCTOR_OK : DOCTOR_WARN, "libwebsockets", "%s",
                  ws ? "Slack's Socket Mode" : err_format(&err));
    if (!ws)
        doctor_suggest("apt-get install libwebsockets17, for Slack's Socket Mode");
}

static void look_at_limits(struct doctor *d)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return;
    const bool few = files.rlim_max != RLIM_INFINITY && files.rlim_max < FILES_WANTED;
    doctor_report(d, few ? DOCTOR_WARN : DOCTOR_OK, "open files", "%" PRIu64 " are possible",
                  (uint64_t)files.rlim_max);
    if (few)
        doctor_suggest("ulimit -Hn, or LimitNOFILE= of the unit: a turn takes about ten");
}

static void look_at_build(struct doctor *d)
{
    if (!*crash_point_names)
        return;
    doctor_report(d, DOCTOR_WARN, "program", "it was built for tests, with places to die at");
    doctor_suggest("configure without --enable-crash-points for what is to serve people");
}

static void doctor_host_look_at_isolation(struct doctor *d)
{
    const struct sandbox_features kernel = sandbox_probe_kernel();
    CLEANUP_FREE char *landlock = sandbox_tell_landlock_gaps(&kernel, true);
    const char *const seccomp = sandbox_tell_seccomp_gaps(&kernel);
    if (landlock) {
        doctor_report(d, DOCTOR_WARN, "isolation", "%s", landlock);
        doctor_suggest(kernel.landlock
                           ? "Linux 6.7 or later, whose Landlock limits ports, too"
                           : "Linux 6.7 or later, with landlock among lsm= of its command line");
    }
    if (seccomp) {
        doctor_report(d, DOCTOR_WARN, "isolation", "%s", seccomp);
        doctor_suggest("a kernel with CONFIG_SECCOMP_FILTER, as distributions have it");
    }
    if (!landlock && !seccomp)
        doctor_report(d, DOCTOR_OK, "isolation", "Landlock (version %d) and seccomp",
                      kernel.landlock);
}

void doctor_look_at_system(struct doctor *d)
{
    look_at_build(d);
    look_at_clock(d);
    look_at_libraries(d);
    look_at_limits(d);
    doctor_host_look_at_isolation(d);
}
