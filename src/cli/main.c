/* SPDX-License-Identifier: MIT
 * main() of turncast. */
#include "cli/command_table.h"

int main(int argc, char **argv)
{
    return command_table_run(argc, argv);
}
