/* SPDX-License-Identifier: MIT
 * A shared object whose turncast_plugin is a function. */
int turncast_plugin(void);

__attribute__((__visibility__("default"))) int turncast_plugin(void)
{
    return 0;
}
