/* SPDX-License-Identifier: MIT
 * A host's state folder, for tests of the commands that read it.
 *
 *   state lay DIR CONN TURN REASON BODY   makes a dead letter
 *   state bury DIR CONN TURN REASON BODY  the same of an event
 *   state rows DIR CONN                   prints the bodies of what waits, "?" behind one in doubt
 *   state allow DIR ID AGENT CONV TOOL SHOWN BY   makes an approval
 *   state hold DIR                        holds it, says so, until its standard input ends */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/journal/journal.h"

static int lay(struct journal *j, char **words)
{
    const int64_t seq = journal_last_seq(j) + 1;
    const struct journal_request r = {
        .turn = words[1], .lane = "c1", .body = {words[3], strlen(words[3])}};
    const struct journal_settlement failed = {.verdict = JOURNAL_FAIL, .reason = words[2]};
    return journal_add_requests(j, words[0], &r, 1, seq) == JOURNAL_DONE &&
                   journal_start_attempt(j, seq) == JOURNAL_DONE &&
                   journal_settle_row(j, seq, &failed, seq + 1) == JOURNAL_DONE
               ? 0
               : 1;
}

static int bury(struct journal *j, char **words)
{
    const struct journal_dead d = {.attempts = 3,
                                   .conn = words[0],
                                   .turn = words[1],
                                   .reason = words[2],
                                   .body = {words[3], strlen(words[3])}};
    return journal_dead_add(j, &d) == JOURNAL_DONE ? 0 : 1;
}

static int allow(struct journal *j, char **words)
{
    const struct journal_approval a = {.id = strtoll(words[0], NULL, 10),
                                       .agent = words[1],
                                       .conv = words[2],
                                       .key = words[0],
                                       .tool = words[3],
                                       .shown = words[4],
                                       .by = words[5]};
    return journal_approval_put(j, &a) == JOURNAL_DONE ? 0 : 1;
}

static void print_row(void *ctx, const struct journal_row *row)
{
    (void)ctx;
    printf("%.*s%s\n", (int)row->body.len, row->body.p, row->in_doubt ? "?" : "");
}

static int hold(void)
{
    char c;
    puts("held");
    fflush(stdout);
    while (read(STDIN_FILENO, &c, 1) > 0)
        ;
    return 0;
}

int main(int argc, char **argv)
{
    struct tc_err err = {0};
    if (argc < 3)
        return 99;
    struct journal *const j = journal_open(&(struct journal_spec){.dir = argv[2]}, &err);
    if (!j) {
        fprintf(stderr, "%s\n", err_format(&err));
        return 99;
    }
    int status = 99;
    if (argc == 7 && strcmp(argv[1], "lay") == 0)
        status = lay(j, argv + 3);
    else if (argc == 7 && strcmp(argv[1], "bury") == 0)
        status = bury(j, argv + 3);
    else if (argc == 9 && strcmp(argv[1], "allow") == 0)
        status = allow(j, argv + 3);
    else if (argc == 4 && strcmp(argv[1], "rows") == 0)
        status = journal_list_rows(j, argv[3], print_row, NULL) == JOURNAL_DONE ? 0 : 1;
    else if (argc == 3 && strcmp(argv[1], "hold") == 0)
        status = hold();
    journal_close(j);
    return status;
}
