/* SPDX-License-Identifier: MIT
 * Messages that are not text: voice and audio that is transcribed, and what cannot be processed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "core/stage.h"
#include "core/talk.h"
#include "tap/tap.h"

#define DOWNLOAD "file-00112233445566778899aabbccddeeff"

static char dir[600], voice[700], song[700], download[700], secret[700], outside[600];
static const char *const *names; /* original names of the files of the next message; or NULL */
static char shell[] = "/bin/sh", flag[] = "-c", script[2000];
static char *command[] = {shell, flag, script, NULL};

/* An instance whose program is this shell script; the file is $0. */
static void begin(const char *text)
{
    talk_begin((const char *const[]){SAY_INIT, SAY_HI, SAY_RESULT, NULL});
    snprintf(script, sizeof script, "%s", text ? text : "");
    talk.instances[0].chat.transcribe = text ? command : NULL;
}

static struct said send_message(const char *text, const char *kind, const char *const *files,
                                size_t n)
{
    static unsigned id;
    char name[20];
    snprintf(name, sizeof name, "v%u", ++id);
    struct said s = {.in = {.size = sizeof s.in,
                            .chat = "A",
                            .user = "1",
                            .text = text,
                            .id = name,
                            .kind = kind,
                            .files = files,
                            .file_names = names,
                            .file_count = n}};
    s.ask = (struct host_call){.kind = HOST_CALL_SUBMIT, .instance = "tg", .inbound = &s.in};
    inbound_handle(talk.reception, &s.ask);
    talk_spin(talk_is_answered, &s);
    s.in.id = NULL;
    return s;
}

/* The prompt that the agent got. */
static void is_prompt(const char *wanted, const char *what)
{
    char text[3000];
    snprintf(text, sizeof text, "start(%s) ", wanted);
    talk_await_quiet();
    ok(strncmp(cast_log_text(&talk.log), text, strlen(text)) == 0, "%s: %s", what,
       cast_log_text(&talk.log));
}

static void test_transcribed(void)
{
    const char *const files[] = {voice};
    begin("tr a-z A-Z <\"$0\"; echo");
    is_int(send_message("", "voice", files, 1).accepted, TC_ACCEPTED,
           "R28: a voice message is accepted");
    is_prompt("HELLO FROM HERE", "R28: a voice message is given to the agent as text");
    ok(strstr(talk.disk.turns[0].prompt, "[file: "), "the ledger has the voice message as a file");
    talk_end("a voice message");
}

static void test_with_words(void)
{
    const char *const files[] = {song, voice, outside};
    char wanted[1500];
    begin("cat \"$0\"");
    send_message("listen", "audio", files, 3);
    snprintf(wanted, sizeof wanted, "listen\n\nla la\nhello from here\n[file: %s]", outside);
    is_prompt(wanted, "R28: text stays, and each file of the instance is transcribed");
    talk_end("a message with text and several files");
}

/* The path of a download says nothing of its format. */
static void test_downloads(void)
{
    const char *const files[] = {download, download, song, secret};
    const char *const sounds[] = {"voice (1).OGG", "note.txt", "la (la).txt", "voice.ogg"};
    char wanted[2500];
    begin("cat \"$0\"");
    names = sounds;
    send_message("", "voice", files, 4);
    names = NULL;
    snprintf(wanted, sizeof wanted,
             "downloaded\n[file: %s (note.txt)]\nla la\n[file: %s (voice.ogg)]", download, secret);
    is_prompt(wanted, "R28: the original name of a download decides whether it is transcribed");
    talk_end("downloads");
}

static void is_refused(const char *text, const char *what)
{
    const char *const files[] = {voice};
    char wanted[1000];
    begin(text);
    send_message("", "voice", files, 1);
    snprintf(wanted, sizeof wanted, "[file: %s: not transcribed]", voice);
    is_prompt(wanted, what);
    talk_end(what);
}

static void test_failures(void)
{
    is_refused("echo no model >&2; exit 3", "R28: a program that fails");
    is_refused(":", "R28: a program that prints nothing");
    is_refused("printf '\\377'", "R28: a program whose output is not UTF-8");
    is_refused("yes x; sleep 100", "R22: a program with endless output");
    shell[5] = 'x';
    is_refused(":", "R28: a program that does not exist");
    shell[5] = 's';
}

static void test_stop(void)
{
    const char *const files[] = {voice};
    char pid_file[700], text[900];
    snprintf(pid_file, sizeof pid_file, "%s/pid", tap_tmpdir());
    snprintf(text, sizeof text, "echo $$ >%s; sleep 1000 & wait", pid_file);
    talk_begin(NULL);
    snprintf(script, sizeof script, "%s", text);
    talk.instances[0].chat.transcribe = command;
    send_message("", "voice", files, 1);
    const int64_t until = clock_mono_ms() + 20000;
    while (access(pid_file, F_OK) < 0 && clock_mono_ms() < until)
        loop_run_once(talk.loop, 20);
    ok(access(pid_file, F_OK) == 0, "the program runs");
    is_int(talk_say("/stop").accepted, TC_COMMAND,
           "R19: stop is accepted during the transcription");
    talk_await_quiet();
    ok(strstr(cast_log_text(&talk.log), "cancelled"), "R19: stop ends the turn: %s",
       cast_log_text(&talk.log));
    talk_end("stop while a voice message is transcribed");
}

static void test_unprocessed(void)
{
    const char *const files[] = {voice};
    begin(NULL);
    clock_fake(1000000, 1.8e9);
    talk_is(send_message("", "sticker", NULL, 0), TC_COMMAND,
            "I can read text and files, but not this kind of message.",
            "C6: a sticker is answered with a notice");
    is_int(send_message("", "location", NULL, 0).accepted, TC_KNOWN,
           "C6: the notice is not repeated within an hour");
    clock_fake_advance((int64_t)3600 * 1000);
    talk_is(send_message("", "voice", files, 1), TC_COMMAND,
            "I cannot listen to voice messages here. Please write.",
            "a voice message without transcribe is answered with a notice");
    clock_fake_end();
    is_int(talk.disk.n, 0, "messages that cannot be processed start no turn");
    is_int(send_message("see", "voice", files, 1).accepted, TC_ACCEPTED,
           "a voice message with text is accepted");
    talk_await_quiet();
    is_int(send_message("", NULL, files, 1).accepted, TC_ACCEPTED, "an audio file is accepted");
    talk_await_quiet();
    talk_end("messages that cannot be processed");
}

int main(void)
{
    plan_lazy();
    talk_init();
    snprintf(dir, sizeof dir, "%s/state", tap_tmpdir());
    mkdir(dir, 0700);
    snprintf(dir, sizeof dir, "%s/state/instances", tap_tmpdir());
    mkdir(dir, 0700);
    snprintf(dir, sizeof dir, "%s/state/instances/tg", tap_tmpdir());
    mkdir(dir, 0700);
    snprintf(voice, sizeof voice, "%s/voice.ogg", dir);
    snprintf(song, sizeof song, "%s/song.MP3", dir);
    snprintf(download, sizeof download, "%s/" DOWNLOAD, dir);
    snprintf(secret, sizeof secret, "%s/outbox.db", dir);
    snprintf(outside, sizeof outside, "%s/other.ogg", tap_tmpdir());
    tap_spew(voice, "hello from here", 15);
    tap_spew(song, "la la", 5);
    tap_spew(download, "downloaded", 10);
    tap_spew(secret, "secret", 6);
    tap_spew(outside, "secret", 6);
    test_transcribed();
    test_with_words();
    test_downloads();
    test_failures();
    test_stop();
    test_unprocessed();
    return 0;
}
