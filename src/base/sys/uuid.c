/* SPDX-License-Identifier: MIT
 * Generates and formats UUIDs. */
#include "base/sys/uuid.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

void uuid_make(char out[37])
{
    unsigned char b[16];
    if (getrandom(b, sizeof b, 0) != sizeof b)
        abort(); /* the kernel never refuses sixteen bytes once it is initialised */
    b[6] = (unsigned char)(0x40 | (b[6] & 0x0f));
    b[8] = (unsigned char)(0x80 | (b[8] & 0x3f));
    snprintf(out, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
             b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
}
