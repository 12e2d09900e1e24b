#!/bin/sh
# SPDX-License-Identifier: MIT
# run_script.sh FOLDER/NAME/X.script: plays it to the connector NAME that was built.
set -eu
folder=$(dirname "$1")
exec "$TURNCAST_SCRIPT" "$TURNCAST_PLUGIN_PATH/$(basename "$folder").so" "$1"
