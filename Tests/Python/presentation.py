"""Validates contest documents against the schema of version 1 of the presentation contract.

presentation.py SCHEMA FOLDER: each file in the folder has a name KIND.NAME.json; KIND is one of the
schema's definitions. Prints all errors. Exits with 1 if there are errors or no files.
"""

import json
import pathlib
import sys

from jsonschema import Draft202012Validator, FormatChecker

schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
files = sorted(pathlib.Path(sys.argv[2]).glob("*.json"))
wrong = not files
for file in files:
    kind = file.name.split(".")[0]
    validator = Draft202012Validator(
        {"$defs": schema["$defs"], "$ref": f"#/$defs/{kind}"}, format_checker=FormatChecker()
    )
    for error in validator.iter_errors(json.loads(file.read_text())):
        print(f"{file.name}: {error.json_path}: {error.message}")
        wrong = True
sys.exit(1 if wrong else 0)
