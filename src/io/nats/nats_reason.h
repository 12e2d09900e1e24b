/* SPDX-License-Identifier: MIT
 * Says why no connection to a NATS server could be made, and what to change. Pure. */
#ifndef IO_NATS_NATS_REASON_H
#define IO_NATS_NATS_REASON_H

#include <stdbool.h>
#include <stddef.h>

#include "io/nats/libnats_dl.h"

/* What the client proves with who it is. */
enum nats_proof { NATS_PROOF_NONE, NATS_PROOF_PASSWORD, NATS_PROOF_TOKEN, NATS_PROOF_FILE };

/* How the connection was asked for. */
struct nats_reason_spec {
    bool tls;
    bool has_cert; /* of this client */
    enum nats_proof proof;
};

/* Writes a sentence without a period. told: what libnats says of its last error; or NULL. */
void nats_reason_describe(char *out, size_t size, const struct libnats *nats, natsStatus status,
                          const char *told, const struct nats_reason_spec *spec);

#endif
