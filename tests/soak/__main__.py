"""python -m soak: runs the soak against the server that SERVER names."""

from __future__ import annotations

import argparse
import random
import signal
import sys

from server_instance import ServerError

from soak.generator import FEATURES
from soak.rounds import Failure, Options, Run


def features(text: str) -> frozenset[str]:
    names = frozenset(filter(None, text.split(",")))
    if unknown := names - set(FEATURES):
        raise argparse.ArgumentTypeError(
            f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(FEATURES)}"
        )
    return names


def main() -> int:
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=None, help="replays a run's choices")
    parser.add_argument("--clients", type=int, default=5)
    parser.add_argument(
        "--round", type=float, default=25, help="seconds from one kill -9 to the next"
    )
    parser.add_argument("--patience", type=float, default=20, help="seconds that are a hang")
    parser.add_argument("--writers", type=int, default=1, help="handlersocket_threads_wr")
    parser.add_argument("--only", type=features, default=frozenset(FEATURES))
    parser.add_argument("--without", type=features, default=frozenset())
    parser.add_argument("--keep", action="store_true", help="keep the folder of a failure")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 32)
    # If a signal ends the run, there is still a summary, and nothing is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    run = Run(
        Options(
            given.seconds,
            seed,
            given.clients,
            given.round,
            given.patience,
            given.writers,
            given.only - given.without,
        )
    )
    print(f"soak of {given.seconds:g} s with seed {seed}", flush=True)
    failed = True
    try:
        run.run()
        failed = False
    except (Failure, ServerError) as failure:
        reason = failure.reason() if isinstance(failure, Failure) else str(failure)
        print(f"\n{failure}\n{run.explain()}")
        # It is written again at the end: if a log is cut in the middle, its end is kept.
        print(f"\nFAILED after {run.elapsed():.0f} s: {reason}")
        if end := run.end_of_server():
            print(f"The server's end: {end}")
        print(f"The same choices again: SEED={seed}")
    finally:
        print(run.summary(), flush=True)
        run.clean_up(keep=failed and given.keep)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
