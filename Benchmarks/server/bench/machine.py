"""The machine of the measurements, and the CPU and memory of processes."""

import os
import platform
import statistics
import time

TICK = os.sysconf("SC_CLK_TCK")


def describe(folder):
    """Returns lines about the machine, which a reader of the figures needs."""
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if "model name" in line), "?")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return [
        f"{time.strftime('%Y-%m-%d %H:%M')} · {os.cpu_count()} × {model} · {memory:.0f} GiB · "
        f"Linux {platform.release()} · {file_system(folder)}",
        f"one fdatasync of 8 KiB: {fdatasync(folder):.2f} ms · load before: {load():.1f}"
        " (0 is a machine at rest; what else runs makes every figure worse)",
    ]


def load():
    return os.getloadavg()[0]


def file_system(folder):
    best = ("", "?")
    with open("/proc/self/mounts") as file:
        for line in file:
            _, place, kind = line.split()[:3]
            if (folder + "/").startswith(place.rstrip("/") + "/") and len(place) > len(best[0]):
                best = (place, kind)
    if best[1] == "tmpfs":
        raise SystemExit(f"{folder} is in memory: nothing there is durable. Set TMPDIR to a disk.")
    return best[1]


def fdatasync(folder):
    """Returns the median time of an fdatasync after a write of 8 KiB, in milliseconds."""
    path = os.path.join(folder, "fdatasync")
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY)
    try:
        times = []
        for index in range(101):
            os.pwrite(descriptor, b"x" * 8192, index * 8192)
            start = time.perf_counter()
            os.fdatasync(descriptor)
            times.append(time.perf_counter() - start)
        return statistics.median(times) * 1000
    finally:
        os.close(descriptor)
        os.unlink(path)


def stat(process):
    """Returns a process's parent, its CPU seconds and the CPU seconds of its ended children."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    own, ended = int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
    return int(fields[1]), own / TICK, ended / TICK


def cpu(root):
    """Returns the CPU seconds of a process and its descendants, with those that have ended."""
    parents, used = {}, {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            parent, own, ended = stat(name)
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(name)] = parent
        used[int(name)] = own + ended

    def below(process):
        while process and process != root:
            process = parents.get(process)
        return process == root

    return sum(seconds for process, seconds in used.items() if below(process))


def resident(process):
    """Returns the resident memory of a process, in MiB."""
    with open(f"/proc/{process}/status") as file:
        line = next(line for line in file if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024
