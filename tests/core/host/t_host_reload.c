/* SPDX-License-Identifier: MIT
 * Keys that a running host cannot change: a reload of a file that changes them is refused, and the
 * error names them. */
#include "core/host/host_reload.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tap/tap.h"

#define URL "url = [\"nats://127.0.0.1:1\"]; "

static char file[600], creds[600];

/* The rest of the file is the same each time. */
static void write_conf(const char *text)
{
    static char all[4000];
    snprintf(all, sizeof all,
             "agents : { a : { command = [\"/bin/true\"]; }; };\nstate_directory = \"/tmp/s\";\n"
             "http : { listen = \"127.0.0.1:0\"; keys : { k : { secret = "
             "\"a-secret-of-this-test-0123456789\"; "
             "grants = [\"submit\"]; }; }; };\n%s\n",
             text);
    tap_spew(file, all, strlen(all));
    chmod(file, 0600);
}

/* Loads the first text, then reloads the second one. refused NULL: it is accepted. */
static void is_reloaded(const char *before, const char *after, const char *refused)
{
    struct tc_err err = {0};
    char wanted[400] = "";
    write_conf(before);
    struct conf *const old = conf_load(file, &err);
    if (!old)
        bail("%s: %s", before, err.text);
    write_conf(after);
    struct conf *const next = host_reload_load(old, &err);
    if (refused)
        snprintf(wanted, sizeof wanted, "cannot change %s by a reload; restart turncast", refused);
    is_str(err.text, wanted, "%s", after);
    ok(!next == !!refused, "the reload is %s", refused ? "refused" : "accepted");
    conf_unref(next);
    conf_unref(old);
}

static void test_keys(void)
{
    static const struct {
        const char *keys, *refused;
    } cases[] = {
        {URL, NULL},
        {"url = [\"nats://127.0.0.1:1\", \"nats://127.0.0.1:2\"]; ", "bus.url"},
        {URL "prefix = \"other\";", "bus.prefix"},
        {URL "replicas = 3;", "bus.replicas"},
        {URL "credentials = \"user:password\";", "bus.credentials"},
        {URL "token = \"a-token\";", "bus.token"},
        {URL "roles = [\"gateway\"];", "bus.roles"},
        {URL "roles = [\"runner\"];", "bus.roles"},
        {URL "roles = [\"runner\", \"gateway\"];", NULL},
        {URL "lost_after_s = 121;", "bus.lost_after_s"},
        {URL "move_after_s = 61;", "bus.move_after_s"},
        {URL "on_loss = \"kill\";", "bus.on_loss"},
        {URL "insecure = true;", NULL},
        {URL "runs : { key = \"k\"; };", NULL},
        {URL "on_loss = \"kill\"; prefix = \"x\";", "bus.prefix, bus.on_loss"},
    };
    char after[600];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(after, sizeof after, "host : { name = \"h1\"; }; bus : { %s };", cases[i].keys);
        is_reloaded("host : { name = \"h1\"; }; bus : { " URL "};", after, cases[i].refused);
    }
}

static void test_files(void)
{
    static const char content[] = "-----BEGIN NATS USER JWT-----\n";
    char after[2000];
    tap_spew(creds, content, strlen(content));
    chmod(creds, 0600);
    snprintf(after, sizeof after, "bus : { " URL "credentials_file = \"%s\"; };", creds);
    is_reloaded("bus : { " URL "};", after, "bus.credentials_file");
    is_reloaded(after, after, NULL);
}

static void test_tls(void)
{
    char after[2000];
    snprintf(after, sizeof after, "bus : { " URL "tls : { ca = \"%s\"; }; };", creds);
    is_reloaded("bus : { " URL "};", after, "bus.tls");
    is_reloaded(after, after, NULL);
}

static void test_groups(void)
{
    is_reloaded("", "bus : { " URL "};", "bus");
    is_reloaded("bus : { " URL "};", "", "bus");
    is_reloaded("host : { name = \"h1\"; };", "bus : { " URL "};", "bus");
    is_reloaded("host : { name = \"h1\"; };", "host : { name = \"h2\"; };", "host.name");
    is_reloaded("host : { name = \"h1\"; }; bus : { " URL "};",
                "host : { name = \"h2\"; }; bus : { " URL "};", "host.name");
    is_reloaded("bus : { " URL "};", "bus : { " URL "}; sessions : { shared = \"/srv\"; };",
                "sessions.shared");
    is_reloaded("", "sessions : { shared = \"/srv\"; };", NULL);
    is_reloaded("", "log : { level = \"warn\"; };", NULL);
}

int main(void)
{
    plan_lazy();
    snprintf(file, sizeof file, "%s/turncast.conf", tap_tmpdir());
    snprintf(creds, sizeof creds, "%s/user.creds", tap_tmpdir());
    test_keys();
    test_files();
    test_tls();
    test_groups();
    return 0;
}
