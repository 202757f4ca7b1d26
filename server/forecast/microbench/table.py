"""Prints the figures of build_and_run.sh as a table: python3 table.py FIGURES.jsonl"""
import json
import sys

for line in open(sys.argv[1]):
    row = json.loads(line)
    if "figure" not in row:
        print("  ".join(f"{key} {value}" for key, value in row.items()))
        continue
    at = " ".join(f"{key}={value:g}" for key, value in row["at"].items())
    print(f'{row["figure"]:58} {at:70} {row["value"]:12.5g} {row["unit"]:18} [{row["low"]:.5g} .. {row["high"]:.5g}]')
