/* SPDX-License-Identifier: MIT
 * Names and media types of sound files. */
#include "base/sound_name.h"

#include "tap/tap.h"

static void test_names(void)
{
    static const char *const sounds[] = {"a.ogg", "a.oga",  "a.opus", "/x/a.b.MP3", "a.m4a",
                                         "a.wav", "a.webm", "a.flac", "a.aac",      "a.Amr"};
    static const char *const others[] = {"",      "ogg",      "a.ogg2", "a.og",   "a.ogg.txt",
                                         "a.txt", "/x.ogg/a", "a.ogg ", "a.ogg)", "file-00ff"};
    for (size_t i = 0; i < sizeof sounds / sizeof *sounds; i++)
        ok(sound_name_is(sounds[i]), "\"%s\" is a sound file", sounds[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ok(!sound_name_is(others[i]), "\"%s\" is not a sound file", others[i]);
}

static void test_types(void)
{
    static const struct {
        const char *type, *extension;
    } cases[] = {
        {"audio/ogg", "ogg"},
        {"audio/ogg; codecs=opus", "ogg"},
        {"Audio/MPEG;q=1", "mp3"},
        {"audio/mp4", "m4a"},
        {"audio/x-m4a", "m4a"},
        {"audio/x-wav", "wav"},
        {"audio/webm", "webm"},
        {"audio/amr", "amr"},
        {"audio/midi", NULL},
        {"audio/og", NULL},
        {"audio/", NULL},
        {"video/ogg", NULL},
        {"", NULL},
        {NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const found = sound_name_extension(cases[i].type);
        is_str(found ? found : "none", cases[i].extension ? cases[i].extension : "none",
               "media type %s", cases[i].type ? cases[i].type : "NULL");
    }
}

int main(void)
{
    plan_lazy();
    test_names();
    test_types();
    return 0;
}
