# SPDX-License-Identifier: MIT
"""Which machine it was, without its name."""
import os
import pathlib
import platform
import shutil
import subprocess


def field(path, name):
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith(name):
            return line.split(":", 1)[1].strip()
    return "unknown"


def first_line(*command):
    if not shutil.which(command[0]):
        return f"no {command[0]}"
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout
    return said.splitlines()[0].strip() if said else command[0]


def compiler(build):
    """The one that configure found, and its flags."""
    for line in (build / "config.status").read_text(encoding="utf-8").splitlines():
        if line.startswith('S["CC"]='):
            return line.split("=", 1)[1].strip('"')
    return "cc"


def describe(build):
    gib = int(field("/proc/meminfo", "MemTotal").split()[0]) / (1 << 20)
    virtual = "hypervisor" in field("/proc/cpuinfo", "flags")
    return (
        f"{field('/proc/cpuinfo', 'model name')}, {os.cpu_count()} "
        f"{'virtual ' if virtual else ''}cores, {gib:.0f} GiB, Linux {platform.release()}; "
        f"{first_line(*compiler(build).split()[:1], '--version')}; "
        f"Node {first_line('node', '--version')}, {first_line('jq', '--version')}, "
        f"{' '.join(first_line('redis-server', '--version').split()[:3])}."
    )
