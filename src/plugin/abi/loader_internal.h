/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the loader. */
#ifndef PLUGIN_ABI_LOADER_INTERNAL_H
#define PLUGIN_ABI_LOADER_INTERNAL_H

#include "base/attr.h"
#include "plugin/abi/loader.h"

/* A probed plugin, from its serialised descriptor; takes over fd. NULL with err: closes fd. */
struct loaded_plugin *loader_new_plugin(int fd, const char *path, struct str record,
                                        struct tc_err *err);
/* Links the file in this process, and appends its serialised descriptor. -1 with err, without a
 * place. */
int loader_describe_in_process(int fd, struct buf *record, struct tc_err *err) MUST_CHECK;

#endif
