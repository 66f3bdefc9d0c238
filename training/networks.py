"""Accuracy against multiply-adds kept: stochastic MELMO beside Muon with gradual magnitude pruning, ProxAdamW and RAMDA.

    apt-get install dataset-fashion-mnist bible-kjv
    bible -f gen1:1-rev22:21 > kjv.txt
    python training/networks.py --data FOLDER --results training/networks.json --seconds 600 --workers 6

FOLDER has Fashion-MNIST's four files and `kjv.txt`. The tasks are in `compare/images.py` and `compare/text.py`, the methods in `compare/methods.py`
and `compare/rivals.py`, all settings in `compare/cells.py`. Every method has as many settings as the others, compared on one seed by the score on
data held back; the best then trains with other seeds, and the test data are looked at. The same rule removes units for every method.
Runs that are in the results file are not made again; those that time did not reach stay empty.
"""

import argparse
import json
import multiprocessing
import os
import queue
import sys
import time
import traceback
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))
from compare import cells  # noqa: E402
from compare.images import Images  # noqa: E402
from compare.methods import Training  # noqa: E402
from compare.text import Text  # noqa: E402
from melmo.torch import _small  # noqa: E402


def device():
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def made(task, options):
    if task == "images":
        return Images(options.data, device(), options.limit, options.narrow, options.epochs)
    return Text(options.data, device(), options.text_steps)


def run(task, method, setting, share, seed):
    begin = time.time()
    training = Training(task, method, setting, share, seed)
    training.run()
    return {**training.outcome(), "seconds": round(time.time() - begin, 2)}


def worker(tasks, answers, options):
    torch.set_num_threads(1)
    _small.STREAMS = options.streams
    known = {}
    while (task := tasks.get()) is not None:
        try:
            if task[0] not in known:
                known[task[0]] = made(task[0], options)
            answers.put((task, run(known[task[0]], *task[1:])))
        except Exception as error:  # a cell that failed says why, and the others go on
            traceback.print_exc()
            answers.put((task, {"error": repr(error)[:300]}))


def save(results, path):
    results["tables"] = {task: cells.table(results, task) for task in cells.TASKS}
    beside = Path(f"{path}.part")
    beside.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    os.replace(beside, path)


def step_times(options):
    from compare.times import measure

    return measure(made("images", argparse.Namespace(**{**vars(options), "limit": 2048})))


def options_of(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--results", required=True)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--tasks", nargs="+", default=["images", "text"])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--text-steps", type=int, default=1000)
    parser.add_argument("--limit", type=int, help="use this many images only: for a trial")
    parser.add_argument("--streams", type=int, default=_small.STREAMS, help="branches of captured graphs")
    parser.add_argument("--narrow", type=int, default=1, help="divide the widths: for a trial")
    return parser.parse_args(arguments)


def main():
    options, began = options_of(), time.time()
    path = Path(options.results)
    results = json.loads(path.read_text()) if path.exists() else {"runs": {}}
    results["runs"] = {name: r for name, r in results["runs"].items() if "error" not in r}
    results["date"] = time.strftime("%Y-%m-%d")
    results["device"] = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    results["protocol"] = {name: getattr(options, name) for name in ("epochs", "text_steps", "limit", "narrow")}
    if "step_ms" not in results:
        try:
            results["step_ms"] = step_times(options)
        except Exception:  # then without branches in captured graphs
            traceback.print_exc()
            options.streams = 0
            results["step_ms"] = step_times(options)
        print(f"{time.time() - began:6.1f}", results["step_ms"], flush=True)
        save(results, path)
    spawn = multiprocessing.get_context("spawn")
    tasks, answers = spawn.Queue(), spawn.Queue()
    crew = [spawn.Process(target=worker, args=(tasks, answers, options), daemon=True) for _ in range(options.workers)]
    for process in crew:
        process.start()
    sent, out, longest, saved = set(), 0, 0.0, time.time()
    while True:
        left = options.seconds - (time.time() - began) - 1.2 * longest
        for task in cells.waiting(results, options.tasks):
            name = cells.name_of(*task)
            if out < options.workers and left > 0 and name not in sent:
                tasks.put(task)
                sent.add(name)
                out += 1
        if not out:
            break
        try:
            task, found = answers.get(timeout=max(options.seconds - (time.time() - began), 0) + 5)
        except queue.Empty:
            break  # whoever worked on what is missing is gone: its cells stay empty
        out -= 1
        longest = max(longest, found.get("seconds", 0.0))
        results["runs"][cells.name_of(*task)] = found
        print(f"{time.time() - began:6.1f}", json.dumps(task), json.dumps(found), flush=True)
        if time.time() - saved > 5:
            save(results, path)
            saved = time.time()
    save(results, path)
    for _ in crew:
        tasks.put(None)


if __name__ == "__main__":
    main()
