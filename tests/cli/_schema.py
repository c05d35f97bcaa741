#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
_schema.py FILE...: checks every line that is an event against the JSON Schema of events, and
prints what is wrong. Exit status 4: the module that does it is not installed.

Each type's first object is checked against the whole schema, which tries every type, the
others against the part that is theirs.
"""
import json
import os
import sys

try:
    from jsonschema import Draft7Validator
except ImportError:
    print("no jsonschema: apt-get install python3-jsonschema")
    sys.exit(4)

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
schema = json.load(open(os.path.join(root, "schema/event.schema.json"), encoding="utf-8"))
Draft7Validator.check_schema(schema)
whole = Draft7Validator(schema)
parts = {b["if"]["properties"]["type"]["const"]: b for b in schema["allOf"] if "if" in b}
of_type = {}
bad = events = 0
for path in sys.argv[1:]:
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        value = json.loads(line)
        if "type" not in value and "time" not in value:
            continue
        events += 1
        kind = value.get("type")
        if kind in of_type:
            errors = list(of_type[kind].iter_errors(value))
        else:
            errors = list(whole.iter_errors(value))
            of_type[kind] = Draft7Validator({**schema, "allOf": [parts[kind]]}) if kind in parts else whole
        for error in errors[:3]:
            print(f"{path}:{number}: {kind}: {'/'.join(map(str, error.path))}: {error.message}"[:300])
        bad += bool(errors)
if not events:
    print("no event")
sys.exit(1 if bad or not events else 0)
