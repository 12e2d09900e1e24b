# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/plugin/instance/instance.c \
	src/plugin/instance/instance.h \
	src/plugin/instance/instance_batch.c \
	src/plugin/instance/instance_call.c \
	src/plugin/instance/instance_chat.c \
	src/plugin/instance/instance_encode.c \
	src/plugin/instance/instance_internal.h \
	src/plugin/instance/instance_issuer.c \
	src/plugin/instance/instance_link.c \
	src/plugin/instance/instance_turn.c \
	src/plugin/instance/services.c \
	src/plugin/instance/services.h \
	src/plugin/instance/services_crypto.c \
	src/plugin/instance/services_hold.c \
	src/plugin/instance/services_inbound.c \
	src/plugin/instance/services_internal.h \
	src/plugin/instance/services_json.c \
	src/plugin/instance/services_json.h \
	src/plugin/instance/services_net.c \
	src/plugin/instance/services_send.c \
	src/plugin/instance/services_store.c \
	src/plugin/instance/services_text.c \
	src/plugin/instance/services_url.c \
	src/plugin/instance/services_value.c \
	src/plugin/instance/services_webhook.c \
	src/plugin/instance/wake_heap.c \
	src/plugin/instance/wake_heap.h
