/* SPDX-License-Identifier: MIT
 * corpus MB [SEED]: the benchmark's stream on stdout. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/corpus.h"

int main(int argc, char **argv)
{
    const long megabytes = argc > 1 ? atol(argv[1]) : 50;
    if (argc > 3 || megabytes < 1 || megabytes > 1 << 20) {
        fprintf(stderr, "usage: %s MB [SEED]\n", argv[0]);
        return 2;
    }
    CLEANUP_BUF struct buf text = {0};
    corpus_make(&text, (size_t)megabytes << 20, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    return fwrite(text.p, 1, text.len, stdout) == text.len && fflush(stdout) == 0 ? 0 : 1;
}
