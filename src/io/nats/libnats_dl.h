/* SPDX-License-Identifier: MIT
 * libnats function table, loaded with dlopen by the first client, so that a host without a bus
 * pays nothing for it. Later versions of the library keep these functions. */
#ifndef IO_NATS_LIBNATS_DL_H
#define IO_NATS_LIBNATS_DL_H

#include <nats/nats.h>

#include "base/attr.h"
#include "base/sys/err.h"

#define LIBNATS_FUNCTIONS(F)                                                                       \
    F(nats_CloseAndWait)                                                                           \
    F(nats_GetLastError)                                                                           \
    F(nats_SetMessageDeliveryPoolSize)                                                             \
    F(natsStatus_GetText)                                                                          \
    F(natsOptions_Create)                                                                          \
    F(natsOptions_Destroy)                                                                         \
    F(natsOptions_LoadCATrustedCertificates)                                                       \
    F(natsOptions_LoadCertificatesChain)                                                           \
    F(natsOptions_SetAllowReconnect)                                                               \
    F(natsOptions_SetClosedCB)                                                                     \
    F(natsOptions_SetDisconnectedCB)                                                               \
    F(natsOptions_SetErrorHandler)                                                                 \
    F(natsOptions_SetMaxPingsOut)                                                                  \
    F(natsOptions_SetMaxReconnect)                                                                 \
    F(natsOptions_SetName)                                                                         \
    F(natsOptions_SetPingInterval)                                                                 \
    F(natsOptions_SetReconnectBufSize)                                                             \
    F(natsOptions_SetReconnectedCB)                                                                \
    F(natsOptions_SetReconnectJitter)                                                              \
    F(natsOptions_SetReconnectWait)                                                                \
    F(natsOptions_SetRetryOnFailedConnect)                                                         \
    F(natsOptions_SetSecure)                                                                       \
    F(natsOptions_SetSendAsap)                                                                     \
    F(natsOptions_SetServers)                                                                      \
    F(natsOptions_SetTimeout)                                                                      \
    F(natsOptions_SetToken)                                                                        \
    F(natsOptions_SetUserCredentialsFromFiles)                                                     \
    F(natsOptions_SetUserInfo)                                                                     \
    F(natsOptions_SetWriteDeadline)                                                                \
    F(natsOptions_UseGlobalMessageDelivery)                                                        \
    F(natsConnection_Close)                                                                        \
    F(natsConnection_Connect)                                                                      \
    F(natsConnection_Destroy)                                                                      \
    F(natsConnection_GetConnectedUrl)                                                              \
    F(natsConnection_GetMaxPayload)                                                                \
    F(natsConnection_PublishMsg)                                                                   \
    F(natsConnection_QueueSubscribe)                                                               \
    F(natsConnection_Status)                                                                       \
    F(natsConnection_Subscribe)                                                                    \
    F(natsMsg_Create)                                                                              \
    F(natsMsg_Destroy)                                                                             \
    F(natsMsg_GetData)                                                                             \
    F(natsMsg_GetDataLength)                                                                       \
    F(natsMsg_GetReply)                                                                            \
    F(natsMsg_GetSubject)                                                                          \
    F(natsMsgHeader_Get)                                                                           \
    F(natsMsgHeader_Set)                                                                           \
    F(natsSubscription_Destroy)                                                                    \
    F(natsSubscription_SetOnCompleteCB)

#define LIBNATS_MEMBER(name) __typeof__(name) *name;
struct libnats {
    LIBNATS_FUNCTIONS(LIBNATS_MEMBER)
};
#undef LIBNATS_MEMBER

/* Fills the table; the library then stays for the life of the process. -1 with err (which may be
 * NULL) when it is not installed, or lacks a function. */
int libnats_load(struct libnats *nats, struct tc_err *err) MUST_CHECK;

#endif
