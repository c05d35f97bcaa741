#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What must hold for text whatever its lines say: their order, lines that come twice, a text that is cut.

command -v python3 >/dev/null || { echo "no python3: apt-get install python3" && exit 4; }
exec python3 "$GRTRACE_SRC/tests/cli/_text_properties.py" "$GRTRACE" "$GRTRACE_SRC"
