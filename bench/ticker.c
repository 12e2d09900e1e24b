/* SPDX-License-Identifier: MIT
 * ticker SECONDS RATE: an agent that says RATE times a second which line it is and when it was
 * written, in the claude dialect. Asked for quiet, it says nothing until it is ended. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/pace.h"

/* A line is one write: a host that reads sees it whole. */
static void say(const char *line, int len)
{
    if (write(STDOUT_FILENO, line, (size_t)len) != len)
        exit(1);
}

#define DIGITS 20

static void put_number(char *to, uint64_t number)
{
    for (int i = DIGITS; i-- > 0; number /= 10)
        to[i] = (char)('0' + number % 10);
}

/* The time is the last that is put in: what else there is to do for a line is not measured. */
static void tick(uint64_t number)
{
    char line[400];
    const int at = snprintf(line, sizeof line,
                            "{\"type\":\"assistant\",\"message\":{\"id\":\"msg_%" PRIu64
                            "\",\"role\":\"assistant\",\"model\":\"ticker-1\",\"content\":[{"
                            "\"type\":\"text\",\"text\":\"%" PRIu64 " ",
                            number, number);
    char *const rest = line + at + DIGITS;
    const int len = snprintf(rest, sizeof line - (size_t)(rest - line),
                             ";\"}],\"stop_reason\":null},\"parent_tool_use_id\":null,"
                             "\"session_id\":\"ticker\"}\n");
    put_number(line + at, (uint64_t)pace_now());
    say(line, at + DIGITS + len);
}

static void answer(uint64_t lines)
{
    char line[400];
    say(line, snprintf(line, sizeof line,
                       "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,"
                       "\"num_turns\":1,\"result\":\"%" PRIu64 " lines\","
                       "\"session_id\":\"ticker\"}\n",
                       lines));
}

int main(int argc, char **argv)
{
    static const char init[] = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":"
                               "\"ticker\",\"tools\":[],\"model\":\"ticker-1\"}\n";
    const uint64_t rate = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    char message[100];
    const ssize_t len = rate ? read(STDIN_FILENO, message, sizeof message - 1) : -1;
    if (len <= 0)
        return 2;
    message[len] = 0;
    say(init, sizeof init - 1);
    while (strstr(message, "quiet"))
        pause();
    const uint64_t lines = rate * strtoull(argv[1], NULL, 10);
    const int64_t began = pace_now();
    for (uint64_t i = 0; i < lines; i++) {
        pace_sleep_until(began + (int64_t)i * PACE_SECOND / (int64_t)rate);
        tick(i);
    }
    answer(lines);
    return 0;
}
