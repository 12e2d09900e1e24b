/* SPDX-License-Identifier: MIT
 * Owns the list of sound formats. */
#include "base/sound_name.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* File name extensions, and subtypes of "audio/", which NULL ends. */
static const struct {
    const char *extension, *subtypes[4];
} formats[] = {
    {"ogg", {"ogg", NULL}},
    {"oga", {NULL}},
    {"opus", {"opus", NULL}},
    {"mp3", {"mpeg", "mp3", NULL}},
    {"m4a", {"mp4", "m4a", "x-m4a", NULL}},
    {"wav", {"wav", "x-wav", "vnd.wave", NULL}},
    {"webm", {"webm", NULL}},
    {"flac", {"flac", "x-flac", NULL}},
    {"aac", {"aac", "x-aac", NULL}},
    {"amr", {"amr", NULL}},
};

bool sound_name_is(const char *name)
{
    const char *const dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof formats / sizeof *formats; i++)
        if (strcasecmp(dot + 1, formats[i].extension) == 0)
            return true;
    return false;
}

const char *sound_name_extension(const char *type)
{
    static const char sound[] = "audio/";
    if (!type || strncasecmp(type, sound, strlen(sound)) != 0)
        return NULL;
    const char *const subtype = type + strlen(sound);
    const size_t len = strcspn(subtype, "; ");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (const char *const *one = formats[i].subtypes; *one; one++)
            if (strlen(*one) == len && strncasecmp(*one, subtype, len) == 0)
                return formats[i].extension;
    return NULL;
}
