"""Times queries in DuckDB, for the script "duckdb".

    python3 duckdb_times.py FOLDER ROWS THREADS ROUNDS NAME...

The table entries (k bigint, v integer) has the keys 1 to ROWS in their order, in memory.  Each query
is in FOLDER/NAME.duckdb; it runs once to warm up, then ROUNDS times.  Prints "NAME MEDIAN-ms", with
all rows fetched.
"""
import statistics
import sys
import time

import duckdb

folder = sys.argv[1]
rows, threads, rounds = (int(argument) for argument in sys.argv[2:5])
db = duckdb.connect()
db.execute(f"SET threads = {threads}")
db.execute(f"""CREATE TABLE entries AS
    SELECT i AS k, (i % 1000)::INTEGER AS v FROM range(1, {rows + 1}) r(i)""")
for name in sys.argv[5:]:
    with open(f"{folder}/{name}.duckdb") as file:
        query = file.read()
    taken = []
    for _ in range(rounds + 1):
        started = time.perf_counter()
        db.execute(query).fetchall()
        taken.append((time.perf_counter() - started) * 1000)
    print(name, round(statistics.median(taken[1:]), 3))
