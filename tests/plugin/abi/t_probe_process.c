/* SPDX-License-Identifier: MIT
 * Tests of the start of plugin/abi/probe_process.h, as loader.h has it; what it finds out is
 * t_loader's. */
#include "plugin/abi/probe_process.h"

#include <stdio.h>
#include <stdlib.h>

#include "plugin/abi/connector_program.h"
#include "plugin/abi/loader.h"
#include "tap/tap.h"

static char path[512];

/* A good plugin, tried by this program. */
static void refused_by(const char *program, const char *why, const char *what)
{
    struct tc_err err = {0};
    setenv(CONNECTOR_VARIABLE, program, 1);
    struct loaded_plugin *const l = loader_probe_file(path, &err);
    ok(!l, "nothing passes %s", what);
    has_str(err.text, why, "  says why");
    is_str(err.place, path, "  says what");
    loader_unref_plugin(l);
}

int main(void)
{
    const char *const build = getenv("TURNCAST_BUILDDIR");
    snprintf(path, sizeof path, "%s/tests/fault/recorder.so", build ? build : ".");
    plan_lazy();
    struct tc_err err = {0};
    struct loaded_plugin *const l = loader_probe_file(path, &err);
    ok(l, "a good plugin passes: %s", err.text);
    loader_unref_plugin(l);
    refused_by("/nonexistent", "helper program turncast-connector is not installed",
               "without the program that tries");
    refused_by("/dev/null", "turncast-connector is not installed", "where there is no program");
    refused_by("/bin/false", "a constructor exits", "one that tries nothing");
}
