/* SPDX-License-Identifier: MIT
 * relay FILE WINDOW: a program of the connector exec that writes each event to a file and
 * acknowledges it, with as little as can be done for that. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *number_after(const char *line, const char *key)
{
    const char *const at = strstr(line, key);
    return at ? at + strlen(key) : "0";
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    FILE *const file = argc == 3 ? fopen(argv[1], "we") : NULL;
    if (!file)
        err(1, "relay FILE WINDOW");
    printf("{\"tc\":\"hello\",\"protocol\":1,\"name\":\"relay\",\"wants\":[\"narration\"],"
           "\"delivers\":true,\"window\":%s}\n",
           argv[2]);
    fflush(stdout);
    while ((len = getline(&line, &size, stdin)) > 0) {
        if (strstr(line, "\"tc\":\"event\"")) {
            fwrite(line, 1, (size_t)len, file);
            fflush(file);
            printf("{\"tc\":\"ack\",\"n\":%ld}\n", atol(number_after(line, "\"n\":")));
        } else if (strstr(line, "\"tc\":\"ping\"")) {
            printf("{\"tc\":\"pong\",\"n\":%ld}\n", atol(number_after(line, "\"n\":")));
        }
        fflush(stdout);
    }
    free(line);
    return fclose(file) == 0 ? 0 : 1;
}
