/* SPDX-License-Identifier: MIT
 * A shared object that is no plugin. */
int nothing_to_see(void);

__attribute__((__visibility__("default"))) int nothing_to_see(void)
{
    return 0;
}
