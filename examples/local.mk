# SPDX-License-Identifier: MIT
# What an author of connectors starts from, and a turn to try it with; installed as documentation.

exampledir = $(docdir)/examples
dist_example_DATA = examples/hello.c examples/webhook.c examples/recording.jsonl examples/recording.meta.json
