/* SPDX-License-Identifier: MIT
 * Recognises sound files by the end of their names, and knows which end belongs to a media type.
 * Pure. */
#ifndef BASE_SOUND_NAME_H
#define BASE_SOUND_NAME_H

#include <stdbool.h>

/* Whether the name, or path, ends like that of a sound file (".ogg", ".MP3"). */
bool sound_name_is(const char *name);
/* The end, without the dot, of names of files of the media type ("audio/mpeg; …": "mp3"). NULL: no
 * known type of sound; type NULL is allowed. */
const char *sound_name_extension(const char *type);

#endif
