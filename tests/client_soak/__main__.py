"""python -m client_soak: runs the clients' soak against the server that SERVER names."""

from __future__ import annotations

import argparse
import random
import signal
import sys

from server_instance import ServerError

from client_soak.driver import Failure, Options, Run
from client_soak.languages import LANGUAGES


def languages(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - LANGUAGES.keys():
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
    return names


def main() -> int:
    parser = argparse.ArgumentParser(prog="client_soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=None, help="of the faults and of the callers")
    parser.add_argument("--clients", type=languages, default=list(LANGUAGES))
    parser.add_argument("--callers", type=int, default=16, help="of each client")
    parser.add_argument("--patience", type=float, default=60, help="seconds that are a hang")
    parser.add_argument("--keep", action="store_true", help="keep the folder of a failure")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 32)
    # If a signal ends the run, there is still a summary, and nothing is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    run = Run(Options(given.seconds, seed, given.clients, given.callers, given.patience))
    print(f"soak of {', '.join(given.clients)} for {given.seconds:g} s, seed {seed}", flush=True)
    failed = True
    try:
        run.run()
        failed = False
    except (Failure, ServerError) as failure:
        print(f"\nFAILED: {failure}\nThe same faults again: SEED={seed}")
    finally:
        print(run.summary(), flush=True)
        run.clean_up(keep=failed and given.keep)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
