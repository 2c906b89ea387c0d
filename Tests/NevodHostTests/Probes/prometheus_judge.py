"""Reads a file in the text format 0.0.4 with Prometheus's own parser, and prints types and samples as JSON."""
import json
import sys

import peers
from prometheus_client.parser import text_fd_to_metric_families

types, samples = {}, {}
with open(sys.argv[1], encoding="utf-8", newline="\n") as file:
    for family in text_fd_to_metric_families(file):
        assert family.name not in types, family.name
        assert family.documentation, family.name
        types[family.name] = family.type
        for sample in family.samples:
            key = sample.name + json.dumps(sample.labels, sort_keys=True, ensure_ascii=False)
            assert key not in samples, key
            samples[key] = sample.value
print(json.dumps({"types": types, "samples": samples}))
