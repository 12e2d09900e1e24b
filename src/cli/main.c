/* SPDX-License-Identifier: MIT
 * Where the program begins: as itself, or as the process of an instance. */
#include "cli/cli.h"
#include "plugin/child.h"

int main(int argc, char **argv)
{
    if (child_is_wanted(argc, argv))
        child_main(argv);
    return cli_main(argc, argv);
}
