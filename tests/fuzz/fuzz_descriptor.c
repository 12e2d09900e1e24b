/* SPDX-License-Identifier: MIT
 * Fuzz target: any bytes as what a probe says of a plugin; what is taken passes the check, can be
 * filled with options, and comes back the same. */
#include <stdint.h>
#include <stdlib.h>

#include "conf/options/plugin_options.h"
#include "plugin/abi/descriptor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As the host does with the options of an instance. */
static void fill(const struct tc_plugin *p)
{
    struct arena arena = {0};
    struct tc_err err;
    void *const conf = calloc(1, p->conf_size + 1);
    if (plugin_options_parse(conf, p, &(struct plugin_options_source){.file = "f", .line = 1},
                             &arena, &err) < 0 &&
        !err.text[0])
        abort();
    free(conf);
    arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct descriptor d, again;
    struct tc_err err = {0};
    if (descriptor_unpack(&d, (struct str){(const char *)data, size}, &err) < 0) {
        if (!err.text[0])
            abort();
        return 0;
    }
    CLEANUP_BUF struct buf record = {0};
    descriptor_pack(&record, &d.plugin, d.has);
    if (descriptor_validate(&d.plugin, &err) < 0 ||
        !str_equal((struct str){record.p, record.len}, (struct str){(const char *)data, size}) ||
        descriptor_unpack(&again, (struct str){record.p, record.len}, &err) < 0)
        abort();
    fill(&d.plugin);
    descriptor_fini(&again);
    descriptor_fini(&d);
    return 0;
}
