# SPDX-License-Identifier: MIT
# Example connectors, and a recorded turn to test them; installed as documentation.
# tests/exec/t_examples.py builds and runs them.

exampledir = $(docdir)/examples
dist_example_DATA = examples/hello.c examples/poster.c examples/tally.cc examples/slow.rs \
	examples/recording.jsonl examples/recording.meta.json
dist_example_SCRIPTS = examples/post.sh examples/approver.py examples/desk.mjs
costsdir = $(exampledir)/costs
dist_costs_DATA = examples/costs/costs.go examples/costs/go.mod examples/costs/plugin.c
