/* SPDX-License-Identifier: MIT
 * Tests of starting the probe process as in loader.h. The results of probes are tested in
 * t_loader. */
#include "plugin/abi/probe_process.h"

#include <stdio.h>
#include <stdlib.h>

#include "plugin/abi/connector_program.h"
#include "plugin/abi/loader.h"
#include "tap/tap.h"

static char path[512];

/* Probes a valid plugin with this helper program, which must fail. */
static void check_refused_with(const char *program, const char *why, const char *what)
{
    struct tc_err err = {0};
    setenv(CONNECTOR_VARIABLE, program, 1);
    struct loaded_plugin *const l = loader_probe_file(path, &err);
    ok(!l, "the plugin is refused %s", what);
    has_str(err.text, why, "the error names the reason");
    is_str(err.place, path, "the error names the plugin");
    loader_unref_plugin(l);
}

int main(void)
{
    const char *const build = getenv("TURNCAST_BUILDDIR");
    snprintf(path, sizeof path, "%s/tests/fault/recorder.so", build ? build : ".");
    plan_lazy();
    struct tc_err err = {0};
    struct loaded_plugin *const l = loader_probe_file(path, &err);
    ok(l, "a valid plugin is accepted: %s", err.text);
    loader_unref_plugin(l);
    check_refused_with("/nonexistent", "helper program turncast-connector is not installed",
                       "without the helper program");
    check_refused_with("/dev/null", "turncast-connector is not installed",
                       "with a helper that is not a program");
    check_refused_with("/bin/false", "a constructor exits", "with a helper that probes nothing");
}
