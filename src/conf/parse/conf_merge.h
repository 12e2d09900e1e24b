/* SPDX-License-Identifier: MIT
 * Loads the tree of a whole configuration: a file, and the files in conf.d beside it. */
#ifndef CONF_PARSE_CONF_MERGE_H
#define CONF_PARSE_CONF_MERGE_H

#include "base/sys/finding.h"
#include "conf/parse/conf_node.h"

#define CONF_MERGE_FILES 100 /* limit of files in conf.d */

/* Reads the file and, if it is called turncast.conf, all files *.conf of the folder conf.d beside
 * it, in the order of their names (bytes). Groups of the same name become one group; anything else
 * that is set twice is an error that names both places and is added to the findings. NULL: a file
 * could not be read or parsed, and that was added. */
const struct conf_node *conf_merge_read(struct arena *a, const char *path,
                                        struct findings *findings);

#endif
