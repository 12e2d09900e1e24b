/* SPDX-License-Identifier: MIT
 * The connector recorder with the flag TC_WANTS_STATE. */
#define RECORDER_NAME "staterecorder"
#define RECORDER_FLAGS (TC_SEES_ALL | TC_WANTS_STATE)
#include "recorder.c"
