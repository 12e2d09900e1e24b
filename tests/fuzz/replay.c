/* SPDX-License-Identifier: MIT
 * main of a fuzz target without libFuzzer: runs each of its seeds once, so that `make check`
 * covers them in every build, under every sanitizer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* tests/fuzz/fuzz_json reads tests/fuzz/seeds/json. */
static const char *seed_folder(const char *program)
{
    const char *name = strrchr(program, '/');
    name = name ? name + 1 : program;
    if (strncmp(name, "lt-", 3) == 0)
        name += 3;
    if (strncmp(name, "fuzz_", 5) == 0)
        name += 5;
    static char folder[256];
    snprintf(folder, sizeof(folder), "fuzz/seeds/%s", name);
    return tap_source(folder);
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    (void)argc;
    plan_lazy();
    const char *folder = seed_folder(argv[0]);
    struct dirent **seeds;
    const int n = scandir(folder, &seeds, not_hidden, alphasort);
    if (n <= 0)
        bail("%s: no seeds", folder);
    for (int i = 0; i < n; i++) {
        char path[8192];
        snprintf(path, sizeof(path), "%s/%s", folder, seeds[i]->d_name);
        size_t len;
        char *data = tap_slurp(path, &len);
        ok(LLVMFuzzerTestOneInput((const uint8_t *)data, len) == 0, "%s", seeds[i]->d_name);
        free(data);
        free(seeds[i]);
    }
    free(seeds);
    return 0;
}
