/* SPDX-License-Identifier: MIT
 * Where turncast-connector begins. */
#include "plugin/connector.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/child.h"
#include "plugin/probe.h"

int main(int argc, char **argv)
{
    if (argc < CONNECTOR_WORDS || strcmp(argv[3], PACKAGE_VERSION) != 0)
        errx(2, "is started by turncast " PACKAGE_VERSION ", and by no other");
    const pid_t host = (pid_t)strtol(argv[2], NULL, 10);
    if (strcmp(argv[1], CONNECTOR_PROBE) == 0)
        probe_main(host, argc - CONNECTOR_WORDS);
    child_main(argv[1], host);
}
