/* SPDX-License-Identifier: MIT
 * Where the secrets of keys come from, and which are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes/buf.h"
#include "base/sys/log.h"
#include "conf/conf.h"
#include "tap/tap.h"

#define LONG_ENOUGH "0123456789abcdef"

static char file[512];

static const char *below(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", tap_tmpdir(), name);
    return path;
}

/* The configuration with these keys. */
static struct conf *load(const char *keys)
{
    struct tc_err err = {0};
    char text[1000];
    snprintf(text, sizeof text, "http : { keys : {\n%s }; };", keys);
    tap_spew(file, text, strlen(text));
    chmod(file, 0600);
    struct conf *const c = conf_load(file, &err);
    if (!c)
        bail("%s", err_format(&err));
    return c;
}

/* The secret of the last key, or the error behind "FILE:". */
static const char *resolved(const char *keys)
{
    static char out[1100];
    struct tc_err err = {0};
    struct conf *const c = load(keys);
    if (conf_resolve_keys(c, &err) == 0)
        snprintf(out, sizeof out, "%s", c->http.keys[c->http.n_keys - 1].secret);
    else
        snprintf(out, sizeof out, "%s", err_format(&err) + strlen(file) + 1);
    conf_unref(c);
    return out;
}

static void keep(const char *name, const char *text, mode_t mode)
{
    unlink(below(name));
    tap_spew(below(name), text, strlen(text));
    chmod(below(name), mode);
}

#define GRANTED " grants = [\"submit\"]; };\n"

static void test_sources(void)
{
    is_str(resolved("a : { secret = \"" LONG_ENOUGH "\";" GRANTED), LONG_ENOUGH, "as text");
    setenv("T_KEY", "from-the-environment", 1);
    is_str(resolved("a : { secret = \"env:T_KEY\";" GRANTED), "from-the-environment", "a variable");
    keep("key", "from-the-file-of-it\nmore\n", 0600);
    is_str(resolved("a : { secret_file = \"key\";" GRANTED), "from-the-file-of-it",
           "the first line of a file");
    is_str(resolved("a : { secret = \"file:key\";" GRANTED), "from-the-file-of-it",
           "file: with a path relative to the configuration file");
    setenv("CREDENTIALS_DIRECTORY", tap_tmpdir(), 1);
    chmod(below("key"), 0440);
    is_str(resolved("a : { secret_file = \"${CREDENTIALS_DIRECTORY}/key\";" GRANTED),
           "from-the-file-of-it", "a credential, which shows a right of the group");
}

/* @ in `why` is the folder. */
static void is_refused(const char *keys, const char *why, const char *name)
{
    struct buf want = {0};
    for (const char *at; (at = strchr(why, '@')); why = at + 1) {
        buf_add(&want, why, (size_t)(at - why));
        buf_add_str(&want, tap_tmpdir());
    }
    buf_add_str(&want, why);
    is_str(resolved(keys), want.p, "%s", name);
    buf_fini(&want);
}

static void test_refused(void)
{
    is_refused("\na : { secret = \"0123456789abcde\";" GRANTED,
               "3: http.keys.a: the secret is too short; use at least 16 characters",
               "15 characters");
    is_refused(
        "a : { secret = \"env:T_NONE\";" GRANTED,
        "2: http.keys.a: environment variable T_NONE is not set; set it where turncast is started",
        "no variable");
    is_refused("a : { secret_file = \"none\";" GRANTED,
               "2: http.keys.a: cannot open secret file @/none: No such file or directory; create "
               "it with mode 0600, or change the path",
               "no file");
    keep("open", LONG_ENOUGH, 0640);
    is_refused("a : { secret_file = \"open\";" GRANTED,
               "2: http.keys.a: secret file @/open is accessible to other users (mode 0640); run: "
               "chmod 600 "
               "@/open",
               "a file that the group may read");
    chmod(below("open"), 0444);
    is_refused("a : { secret_file = \"${CREDENTIALS_DIRECTORY}/open\";" GRANTED,
               "2: http.keys.a: secret file @/open is accessible to other users (mode 0444); run: "
               "chmod 600 "
               "@/open",
               "a credential that all may read");
    is_refused(
        "a : { secret = \"" LONG_ENOUGH "\";" GRANTED "b : { secret = \"" LONG_ENOUGH "\";" GRANTED,
        "3: http.keys.b: same secret as key \"a\"; use a different one", "one secret for two");
    unsetenv("CREDENTIALS_DIRECTORY");
    is_refused(
        "a : { secret_file = \"${CREDENTIALS_DIRECTORY}/k\";" GRANTED,
        "2: http.keys.a: cannot read credential \"k\": environment variable CREDENTIALS_DIRECTORY "
        "is not set (is turncast started by systemd with LoadCredential=?)",
        "no credentials");
}

static void test_redacted(void)
{
    struct buf out = {0};
    resolved("a : { secret = \"the words of this test\";" GRANTED);
    log_redact(&out, STR("it said: the words of this test."));
    is_str(out.p, "it said: ***.", "what was read shows nowhere");
    buf_fini(&out);
}

int main(void)
{
    plan_lazy();
    snprintf(file, sizeof file, "%s/turncast.conf", tap_tmpdir());
    test_sources();
    test_refused();
    test_redacted();
    log_forget_secrets();
    return 0;
}
