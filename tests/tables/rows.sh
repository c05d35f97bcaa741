#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What is written twice agrees with the rows it comes from, see tools/check-tables.
exec "$GRTRACE_SRC/tools/check-tables" "$GRTRACE"
