#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""containers.py specification SCHEMA FILE   FILE is a CDI specification by SCHEMA, a folder with schema.json and defs.json of Debian's
                                         package, has no word that these lack, and each file of this machine that it names is there;
                                         prints what a container gets, a line each
containers.py kubernetes YAML FILE       YAML offers what FILE has to Kubernetes, and its pod asks for that"""
import json
import os
import re
import stat
import sys

import jsonschema
import yaml

# what runtimes ask for beyond the schema: the vendor, the class, and the name of a device
QUALIFIED = r"[a-z][\w.-]*[a-z0-9]/[a-z][\w-]*[a-z0-9]=[a-z0-9]([\w.:-]*[a-z0-9])?"


def load(path):
    with open(path, encoding="ascii") as f:
        return f.read()


def strict(schema):
    """A schema that says what an object may have says that it has nothing else: runtimes refuse a word that they do not know."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and "properties" in schema:
            schema["additionalProperties"] = False
        for value in schema.values():
            strict(value)
    elif isinstance(schema, list):
        for value in schema:
            strict(value)
    return schema


def validate(folder, text):
    schema, definitions = (strict(json.loads(load(os.path.join(folder, name)).replace("defs.json#", "#"))) for name in ("schema.json", "defs.json"))
    jsonschema.Draft7Validator({**schema, **definitions}).validate(text)


def names(specification):
    return [f"{specification['kind']}={d['name']}" for d in specification["devices"]]


def specification(folder, path):
    text = json.loads(load(path))
    validate(folder, text)
    for name in names(text):
        assert re.fullmatch(QUALIFIED, name, re.I | re.A), name
        print("device", name)
    for device in text["devices"]:
        edits = device["containerEdits"]
        for env in edits["env"]:
            assert "=" in env
            print("env", env)
        for mount in edits["mounts"]:
            mode = os.stat(mount["hostPath"]).st_mode
            assert not stat.S_ISDIR(mode), f"{mount['hostPath']}: a folder may have keys beside what is wanted"
            assert mount["options"][1:] == ["nosuid", "nodev", "bind"]
            print(mount["options"][0], mount["containerPath"], mount["hostPath"])
        for node in edits.get("deviceNodes", []):
            assert stat.S_ISCHR(os.lstat(node["hostPath"]).st_mode), node
            print("node", node["path"], node["hostPath"])


def kubernetes(path, cdi):
    plugin, pod = yaml.safe_load_all(load(path))
    device, = names(json.loads(load(cdi)))
    assert (plugin["apiVersion"], plugin["kind"], pod["apiVersion"], pod["kind"]) == ("apps/v1", "DaemonSet", "v1", "Pod")
    template = plugin["spec"]["template"]
    assert plugin["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    container, = template["spec"]["containers"]
    hosts = {v["name"]: v["hostPath"]["path"] for v in template["spec"]["volumes"]}
    inside = {m["mountPath"]: hosts.pop(m["name"]) for m in container["volumeMounts"]}
    assert not hosts, "each volume is mounted"
    # the plugin reads one file, and talks to the kubelet below this folder
    assert inside[container["command"][1]] == "/etc/cdi/kvgpu-remote.json" and inside["/var/lib/kubelet"] == "/var/lib/kubelet"
    # it offers VENDOR/CLASS-NAME
    assert list(pod["spec"]["containers"][0]["resources"]["limits"].items()) == [(device.replace("=", "-"), 1)], device


if __name__ == "__main__":
    {"specification": specification, "kubernetes": kubernetes}[sys.argv[1]](*sys.argv[2:])
