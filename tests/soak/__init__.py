"""The soak: clients that know what their own rows have to be, while other work goes on.

`python -m soak --help` says how to run it. rounds.py describes a run.
"""
