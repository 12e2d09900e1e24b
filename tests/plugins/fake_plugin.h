/* SPDX-License-Identifier: MIT
 * A connector of the build tree on a fake host (cli/testing/fake/fake_host.h), for tests in C. */
#ifndef TESTS_PLUGINS_FAKE_PLUGIN_H
#define TESTS_PLUGINS_FAKE_PLUGIN_H

#include <stdio.h>
#include <stdlib.h>

#include "cli/testing/fake/fake_host.h"
#include "tap/tap.h"

/* Takes "key", "value", …, NULL; the fake clock is at its start. Bails out on errors. */
static inline struct fake_host *fake_plugin_new(const char *name, const char *const *options)
{
    struct fake_option rows[FAKE_OPTIONS_MAX];
    struct tc_err err;
    char path[4096];
    const char *const folder = getenv("TURNCAST_PLUGIN_PATH");
    size_t n = 0;
    for (; options[2 * n]; n++)
        rows[n] = (struct fake_option){options[2 * n], options[2 * n + 1], 1};
    snprintf(path, sizeof path, "%s/%s.so", folder ? folder : "plugins/.libs", name);
    fake_host_reset_clock();
    struct fake_host *const host = fake_host_new(path, rows, n, "test", &err);
    if (!host)
        bail("%s", err_format(&err));
    return host;
}

#endif
