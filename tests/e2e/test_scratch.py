import collections
from support.database import Sql
from support.peers import running_peer
from support_redis import redis_port, redis_server
from support_redis_beside import Beside, shrink, told
from support_redis_sequences import DATABASE, TABLE, Author
import os


def test_hunt(data_root, watch):
    seen = collections.Counter()
    with (
        redis_server(data_root, watch, handlersocket_threads=2) as s,
        running_peer("redis-server") as port,
    ):
        with Sql(s.socket) as sql:
            sql.run(f"CREATE DATABASE {DATABASE}", f"USE {DATABASE}", TABLE)
            b = Beside(redis_port(s), port, lambda: sql.run("DELETE FROM t"))
            first = int(os.environ.get("HS_SEED", "1"))
            for seed in range(first, first + int(os.environ.get("N", "150"))):
                case = Author(seed).case()
                if b.run(case) is not None:
                    small, d = shrink(case, b.run, 3)
                    lines = (d or "").splitlines()
                    key = " | ".join(l.strip()[:110] for l in lines[-2:])
                    import re

                    key = re.sub(r"redis_random.t:[^']*", "K", key)
                    seen[key] += 1
                    if seen[key] == 1:
                        print("SEED", seed, told(small, d)[:1800], flush=True)
                        print()
            print(b.counts)
    for k, n in seen.most_common():
        print(n, k)
