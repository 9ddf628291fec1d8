// SPDX-License-Identifier: GPL-2.0-only
/*
 * What trace.h declares.
 */
#include "core.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
