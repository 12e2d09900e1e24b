#!/bin/sh
# SPDX-License-Identifier: MIT
# run_script.sh FOLDER/NAME/X.script: plays the script to the built connector NAME; in tests/chat to
# the connector of the imaginary service NAME.
set -eu
folder=$(dirname "$1")
name=$(basename "$folder")
case $folder in
*/tests/chat/*) connector=$TURNCAST_BUILDDIR/tests/chat/chat_$name.so ;;
*) connector=$TURNCAST_PLUGIN_PATH/$name.so ;;
esac
exec "$TURNCAST_SCRIPT" "$connector" "$1"
