"""Stripe's published description of its API. Finds violations of it in requests, replies and
events.

.ci/venv writes the description to the environment of the interpreter that runs this file.
"""
import json
import re
import sys
import urllib.parse
from pathlib import Path

DOCUMENT = Path(sys.prefix) / "stripe-openapi.json"


def tree(pairs):
    """Returns the nested values of a form such as a[b][0]=c."""
    root = {}
    for name, value in pairs:
        parts = [name.split("[")[0], *re.findall(r"\[([^\]]*)\]", name)]
        node = root
        for place, part in enumerate(parts):
            part = part or str(len(node))
            if place == len(parts) - 1:
                node[part] = value
            else:
                node = node.setdefault(part, {})

    def lists(node):
        if not isinstance(node, dict):
            return node
        node = {name: lists(value) for name, value in node.items()}
        if node and all(name.isdigit() for name in node):
            return [node[name] for name in sorted(node, key=int)]
        return node

    return lists(root)


class Document:
    def __init__(self, path=DOCUMENT):
        whole = json.loads(Path(path).read_text())
        self.version = whole["info"]["version"]
        self.schemas = whole["components"]["schemas"]
        # The paths with the fewest parameters come first, so that a fixed path wins over a
        # parameter.
        self.paths = [
            (re.compile(re.sub(r"\{[^}]+\}", "[^/]+", path)), path, operations)
            for path, operations in sorted(whole["paths"].items(), key=lambda item: item[0].count("{"))
        ]

    def operation(self, method, path):
        """Returns the template of a path and its operation, or None."""
        for form, template, operations in self.paths:
            if form.fullmatch(path) and method.lower() in operations:
                return template, operations[method.lower()]
        return None

    def of_request(self, operation, query, body):
        """Returns the violations in a request."""
        parameters = {p["name"]: p for p in operation.get("parameters", [])}
        wrong = []
        for name, value in tree(query).items():
            if name not in parameters or parameters[name]["in"] != "query":
                wrong.append(f"query: unknown parameter {name}")
            else:
                wrong += self.check(value, parameters[name]["schema"], name, is_form=True)
        content = operation.get("requestBody", {}).get("content", {})
        schema = content.get("application/x-www-form-urlencoded", {}).get("schema")
        return wrong + self.check(tree(body), schema or {"type": "object"}, "body", is_form=True)

    def of_reply(self, operation, value):
        """Returns the violations in a reply of status 200."""
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        return self.check(value, schema, "reply")

    def of_object(self, value):
        """Returns the violations in an object, whose member `object` names its schema."""
        return self.check(value, {"$ref": "/" + value["object"]}, value["object"])

    def check(self, value, schema, path, is_form=False):
        """Returns the violations in a value, as sentences. A valid value has none."""
        if "$ref" in schema:
            schema = self.schemas[schema["$ref"].rsplit("/", 1)[-1]]
        if value is None:
            return [] if schema.get("nullable") else [f"{path}: null"]
        if "anyOf" in schema:
            wrong = [self.check(value, one, path, is_form) for one in schema["anyOf"]]
            return [] if not all(wrong) else min(wrong, key=len)
        kind = schema.get("type")
        if kind == "object" or "properties" in schema:
            return self.of_members(value, schema, path, is_form)
        if kind == "array":
            if not isinstance(value, list):
                return [f"{path}: not an array: {value!r}"]
            return [
                sentence
                for place, item in enumerate(value)
                for sentence in self.check(item, schema["items"], f"{path}[{place}]", is_form)
            ]
        return self.of_scalar(value, schema, kind, path, is_form)

    def of_members(self, value, schema, path, is_form):
        if not isinstance(value, dict):
            return [f"{path}: not an object: {value!r}"]
        members = schema.get("properties", {})
        others = schema.get("additionalProperties")
        wrong = [f"{path}: {name} is missing" for name in schema.get("required", []) if name not in value]
        for name, member in value.items():
            if name in members:
                wrong += self.check(member, members[name], f"{path}.{name}", is_form)
            elif isinstance(others, dict):
                wrong += self.check(member, others, f"{path}.{name}", is_form)
            elif others is False or members:
                wrong.append(f"{path}: unknown parameter {name}")
        return wrong

    @staticmethod
    def of_scalar(value, schema, kind, path, is_form):
        is_text = isinstance(value, str)
        if kind == "integer":
            right = is_text and re.fullmatch(r"-?\d+", value) if is_form else type(value) is int
        elif kind == "number":
            right = is_text if is_form else type(value) in (int, float)
        elif kind == "boolean":
            right = value in ("true", "false") if is_form else type(value) is bool
        elif kind == "string":
            right = is_text
            if is_text and len(value) > schema.get("maxLength", 10**9):
                return [f"{path}: too long"]
            words = schema.get("enum")
            if is_text and words and value not in words and not schema.get("x-stripeBypassValidation"):
                return [f"{path}: {value!r} is none of {words}"]
        else:
            right = True
        return [] if right else [f"{path}: not a {kind}: {value!r}"]


def pairs(text):
    return urllib.parse.parse_qsl(text, keep_blank_values=True)
