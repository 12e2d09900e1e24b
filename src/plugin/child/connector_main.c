/* SPDX-License-Identifier: MIT
 * main() of turncast-connector: runs one instance or probes files. */
#include "plugin/abi/connector_program.h"

#include <err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys/log.h"
#include "plugin/abi/probe_process.h"
#include "plugin/child/child.h"

/* Log output of an instance goes to the host's log (connector_log_pipe.c); a probe process uses the
 * host's stderr. */
__attribute__((__noreturn__)) static void connector_main_exit_version_mismatch(bool probes)
{
    log_setup(probes ? LOG_TEXT : LOG_JSON, LOG_ERR, STDERR_FILENO);
    log_write(LOG_ERR, CONNECTOR_PROGRAM,
              "version " PACKAGE_VERSION " does not match the running turncast; restart turncast");
    exit(2);
}

int main(int argc, char **argv)
{
    if (argc < CONNECTOR_FIXED_ARGS)
        errx(2, "internal helper; started by turncast only");
    const bool probes = strcmp(argv[1], CONNECTOR_PROBE) == 0;
    const pid_t host = (pid_t)strtol(argv[2], NULL, 10);
    if (strcmp(argv[3], PACKAGE_VERSION) != 0)
        connector_main_exit_version_mismatch(probes);
    if (probes)
        probe_process_main(host, argc - CONNECTOR_FIXED_ARGS);
    child_main(argv[1], host);
}
