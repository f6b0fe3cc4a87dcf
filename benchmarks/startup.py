"""How long `govctl --version` takes beside a bare interpreter: what every call in a shell or in CI pays first.

    .venv/bin/python benchmarks/startup.py [RUNS]

Runs alternate, so that the machine's other work falls on both alike. Prints the best and the median in
milliseconds, and what importing takes most (self time, from ``-X importtime``).
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

BIN = Path(sys.executable).parent
SUBJECTS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "govctl --version": [str(BIN / "govctl"), "--version"],
    "govctl --help": [str(BIN / "govctl"), "--help"],
    "govctl range '^1' 1.2.0": [str(BIN / "govctl"), "range", "^1", "1.2.0"],
}


def took_ms(argv: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - started) * 1000


def slowest_imports(count: int) -> list[tuple[float, str]]:
    argv = [sys.executable, "-X", "importtime", str(BIN / "govctl"), "--version"]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stderr
    rows = [line.removeprefix("import time:").split("|") for line in said.splitlines() if "|" in line][1:]
    return sorted(((int(own) / 1000, name.strip()) for own, _, name in rows), reverse=True)[:count]


def main(runs: int) -> None:
    times: dict[str, list[float]] = {name: [] for name in SUBJECTS}
    for _ in range(runs):
        for name, argv in SUBJECTS.items():
            times[name].append(took_ms(argv))
    print(f"{'':28}{'best':>8}{'median':>8}  ms, {runs} runs")
    for name, taken in times.items():
        print(f"{name:28}{min(taken):8.1f}{statistics.median(taken):8.1f}")
    print("\nslowest imports of govctl --version (ms)")
    for own, name in slowest_imports(5):
        print(f"{own:8.1f}  {name}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
