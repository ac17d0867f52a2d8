#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What --json writes is what docs/schema.json says, and a wrong report is not.

Usage: schema_test.py ABORTSCOPE SCHEMA.
Exit status 77: python3-jsonschema is not there.
"""

import copy
import json
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: no jsonschema (Debian: python3-jsonschema)")
    sys.exit(77)

abortscope, schema_path = sys.argv[1:]

with open(schema_path, encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)


def report(*words):
    return json.loads(subprocess.run([abortscope, "run", *words, "--json", "-"], check=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


for words in (("ovs-hmap", "--n", "200", "--policy", "none,ovs2016", "--repeat", "2"),
              ("ovs-hmap", "--n", "200", "--machine", "native", "--policy", "none"),
              ("rtm-conflict", "--set", "bytes=same,disjoint"),
              ("rtm-capacity",)):
    good = report(*words)
    validator.validate(good)

# A schema that takes everything would be of no use.
for break_it in (lambda bad: bad.pop("rows"),
                 lambda bad: bad["rows"][0].pop("duration_ns"),
                 lambda bad: bad["rows"][0].update(tx_start="many"),
                 lambda bad: bad["rows"][0].update(time_source="guess"),
                 lambda bad: bad["rows"][0].update(no_such_column=[1])):
    bad = copy.deepcopy(good)
    break_it(bad)
    assert not validator.is_valid(bad), "a wrong report passes"
print("all reports are as the schema says")
