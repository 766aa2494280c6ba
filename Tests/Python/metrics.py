"""Reads a page of metrics with Prometheus's own Python library, and prints the samples as JSON."""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families

with open(sys.argv[1], encoding="utf-8") as page:
    samples = [
        {"name": sample.name, "type": family.type, "labels": sample.labels, "value": sample.value}
        for family in text_string_to_metric_families(page.read())
        for sample in family.samples
    ]
print(json.dumps(samples))
