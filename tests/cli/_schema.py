#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
_schema.py [NAME:]FILE...: checks JSON against the schemas, and prints what is wrong. A file is a
line per event and perhaps an object of the command NAME behind them, or that object alone.
Exit status 4: the module that does it is not installed.

Each type's first event is checked against the whole schema, which tries every type, the
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


def has_schema(name):
    return os.path.exists(os.path.join(root, f"schema/{name}.schema.json"))


def load(name):
    schema = json.load(open(os.path.join(root, f"schema/{name}.schema.json"), encoding="utf-8"))
    Draft7Validator.check_schema(schema)
    return schema


events = load("event")
whole = Draft7Validator(events)
parts = {b["if"]["properties"]["type"]["const"]: b for b in events["allOf"] if "if" in b}
of_type = {}
of_command = {}


def check(value, name):
    if "type" not in value and "time" not in value:
        if name and name not in of_command:
            of_command[name] = Draft7Validator(load(name)) if has_schema(name) else None
        return of_command[name].iter_errors(value) if name and of_command[name] else None
    kind = value.get("type")
    if kind in of_type:
        return of_type[kind].iter_errors(value)
    of_type[kind] = Draft7Validator({**events, "allOf": [parts[kind]]}) if kind in parts else whole
    return whole.iter_errors(value)


def values(path):
    text = open(path, encoding="utf-8").read().strip()
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        yield value
        at = at + len(text[at:at + 1000]) - len(text[at:at + 1000].lstrip())


bad = checked = 0
for argument in sys.argv[1:]:
    name, _, path = argument.rpartition(":")
    for number, value in enumerate(values(path), 1):
        errors = check(value, name)
        if errors is None:
            continue
        errors = list(errors)
        checked += 1
        for error in errors[:3]:
            error = max(error.context, key=lambda e: len(e.absolute_path), default=error)
            print(f"{path}:{number}: {value.get('type')}: {'/'.join(map(str, error.absolute_path))}: {error.message}"[:400])
        bad += bool(errors)
if not checked:
    print("no event, and no object with a schema")
sys.exit(1 if bad or not checked else 0)
