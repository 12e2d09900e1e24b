/* SPDX-License-Identifier: MIT
 * Reads the message and checks its limits. */
#include "cli/run/message_input.h"

#include <string.h>
#include <unistd.h>

#include "base/bytes/utf8.h"

#define MESSAGE_MAX ((size_t)16 << 20)

static int read_stdin(struct buf *message, const struct cli_command *c)
{
    for (ssize_t n = 1; n > 0;) {
        n = read(STDIN_FILENO, buf_reserve(message, 65536), 65536);
        if (n < 0)
            return args_usage_error(c, "cannot read the message from standard input");
        message->len += (size_t)n;
        if (message->len > MESSAGE_MAX)
            return args_usage_error(c, "the message exceeds the limit of %zu bytes", MESSAGE_MAX);
    }
    return 0;
}

int message_input_read(struct buf *message, const char *operand, const struct cli_command *c)
{
    if (strcmp(operand, "-") != 0)
        buf_add_str(message, operand);
    else if (read_stdin(message, c) != 0)
        return EXIT_USAGE;
    if (!utf8_is_valid(message->p ? message->p : "", message->len))
        return args_usage_error(c, "the message is not valid UTF-8");
    return message->len ? 0 : args_usage_error(c, "the message is empty");
}
