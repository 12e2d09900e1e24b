/* SPDX-License-Identifier: MIT
 * Owns the texts that conf_kit.h returns. */
#include "conf/conf_kit.h"

#include <stdio.h>
#include <sys/stat.h>

#include "tap/tap.h"

const char *conf_kit_file(void)
{
    static char file[512];
    snprintf(file, sizeof file, "%s/turncast.conf", tap_tmpdir());
    return file;
}

struct conf *conf_kit_load(const char *text)
{
    struct tc_err err = {0};
    tap_spew(conf_kit_file(), text, strlen(text));
    chmod(conf_kit_file(), 0600);
    struct conf *const c = conf_load(conf_kit_file(), &err);
    return c ? c : (bail("%s", err_format(&err)), NULL);
}

const char *conf_kit_below(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", tap_tmpdir(), name);
    return path;
}

const char *conf_kit_join(char *const *list)
{
    static char out[400];
    size_t len = 0;
    for (out[0] = 0; *list; list++)
        len += (size_t)snprintf(out + len, sizeof out - len, "%s%s", len ? "|" : "", *list);
    return out;
}
