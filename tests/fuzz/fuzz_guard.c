/* SPDX-License-Identifier: MIT
 * Any stream of drafts: what the guard makes of it keeps every promise. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "promise.h"
#include "turn/drive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void see(void *ctx, struct event *ev)
{
    promise_see(ctx, ev);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct promise promise = {0};
    struct guard g;
    guard_init(&g, "fuzz", "c-1", see, &promise);
    drive_guard(&g, data, size);
    const char *const broken = promise_end(&promise);
    if (broken) {
        fprintf(stderr, "%s\n", broken);
        abort();
    }
    promise_fini(&promise);
    guard_fini(&g);
    return 0;
}
