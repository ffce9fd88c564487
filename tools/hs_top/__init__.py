"""hs-top: shows what HandlerSocket's clients do, over plain SQL.

The modules, lowest first: `option_file` and `arguments` say how to reach the server, `reading` asks
it, `difference` and `latencies` make rates of two readings, `screen` makes lines of them,
`__main__` shows these on a terminal or writes them for scripts.
"""
