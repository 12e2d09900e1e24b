/* SPDX-License-Identifier: MIT
 * The format of tc_json: jansson's pack format, and JSON text as a value. */
#ifndef PLUGIN_INSTANCE_SERVICES_JSON_H
#define PLUGIN_INSTANCE_SERVICES_JSON_H

#include <jansson.h>
#include <stdarg.h>

#define SERVICES_JSON_WHY ((size_t)192)

/* The value, for json_decref; NULL with `why` (SERVICES_JSON_WHY bytes). A format without the
 * letter j is passed to jansson; one with j may have { } [ ] s i I b f n and j, j*. */
json_t *services_json_pack(const char *fmt, va_list ap, char *why);

#endif
