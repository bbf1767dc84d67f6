#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
allocation.py: GPUs that are bound to their machines against GPUs of the whole cluster, on a stated mix of jobs; and one program on 1
to 1,024 GPUs. Simulated with costs that were measured (COSTS; docs/cluster-results.md says where). Prints Markdown. By seeds: a run is the
same each time.
"""
import heapq
import math
import random
import statistics

# ------------------------------------------------------------------ what was measured

COSTS = {
    "start_s": 0.6,            # kvgpu-run of `true` on 2 proxies, Open MPI, start and end together
    "start_each_s": 0.034,     # each more proxy: 2.7 s with 64, all on one machine of 2 CPUs, most of it mpirun's own
    "local_Bps": 7.5e9,        # pageable copies to a GPU of this machine, without kvgpu-run
    "remote_Bps": 3.4e9,       # the same by kvgpu-run over a link of 3,650 MB/s, both ways of table 1
    "look_s": 2.0,             # kvgpu-run --wait looks so often for GPUs that fit
    "turn_us": 10.0,           # CPU time of a turn of the broker's loop, and more of it for each proxy (many.sh costs)
    "turn_each_us": 2.2,
    "call_us": 36.0,           # a call that is answered, at best, and more of it for each further proxy (many.sh costs)
    "call_each_us": 0.6,
    "broker_us": 25.0,         # the broker's CPU time for a call, if calls of all devices come at once (many.sh costs)
    "staging_B": 1 << 20,
}


def start_up(gpus):
    return COSTS["start_s"] + COSTS["start_each_s"] * max(gpus - 2, 0)


# ------------------------------------------------------------------ the mix of jobs

NODE_GPUS = 2
USERS = (0.4, 0.3, 0.2, 0.1)            # of the work; each user has a node
WANTED = ((1, 0.55), (2, 0.25), (4, 0.15), (8, 0.05))
WORK_MEDIAN_S, WORK_SIGMA = 60.0, 1.0   # GPU-seconds of computing, log-normal
BYTES_PER_S = 0.25e9                    # bytes to copy for each GPU-second
JOBS_PER_GPU = 25


class Job:
    def __init__(self, rng, users):
        self.user = rng.choices(range(len(users)), users)[0]
        self.wanted = rng.choices([w for w, _ in WANTED], [p for _, p in WANTED])[0]
        self.work = rng.lognormvariate(math.log(WORK_MEDIAN_S), WORK_SIGMA)
        self.arrives = 0.0

    def on_own_node(self):
        """as many of its node's GPUs as it wants and as there are: no kvgpu-run, copies are local"""
        gpus = min(self.wanted, NODE_GPUS)
        return gpus, self.work / gpus + self.work * BYTES_PER_S / COSTS["local_Bps"]

    def on_any(self):
        """by kvgpu-run; all copies cross the link of the program's machine, the worst placement"""
        return self.wanted, (start_up(self.wanted) + self.work / self.wanted +
                             self.work * BYTES_PER_S / COSTS["remote_Bps"])


def jobs_of(seed, gpus, load):
    """jobs whose computing is so much of what the GPUs can do while they arrive; load 0: all at once"""
    rng = random.Random(seed)
    users = USERS * (gpus // (NODE_GPUS * len(USERS)))
    jobs = [Job(rng, users) for _ in range(JOBS_PER_GPU * gpus)]
    mean = sum(j.work for j in jobs) / len(jobs)
    at = 0.0
    for j in jobs:
        at += rng.expovariate(load * gpus / mean) if load else 0.0
        j.arrives = at
    return jobs


# ------------------------------------------------------------------ ways to allocate

def backfilled(jobs, gpus, need):
    """
    One queue in the order of arrival. The first waits until its GPUs are free; a later one may go before it if it then ends before the
    first can begin, or takes GPUs that the first leaves (EASY backfill, with true run times, as by Slurm with good limits).
    """
    free, queue, running, done = gpus, [], [], []
    arrivals = sorted(jobs, key=lambda j: j.arrives)
    i, now = 0, 0.0

    def begin(job):
        nonlocal free
        n, takes = need(job)
        free -= n
        heapq.heappush(running, (now + takes, id(job), n))
        done.append((job, now, now + takes, n))

    while i < len(arrivals) or queue or running:
        while queue and need(queue[0])[0] <= free:
            begin(queue.pop(0))
        if queue:
            spare, shadow = free, now
            first = need(queue[0])[0]
            for end, _, n in sorted(running):
                spare += n
                shadow = end
                if spare >= first:
                    break
            spare -= first
            for job in queue[1:]:
                if not free:
                    break
                n, takes = need(job)
                if n <= free and (now + takes <= shadow or n <= spare):
                    if now + takes > shadow:
                        spare -= n
                    queue.remove(job)
                    begin(job)
        times = []
        if i < len(arrivals):
            times.append(arrivals[i].arrives)
        if running:
            times.append(running[0][0])
        if not times:
            break
        now = min(times)
        while running and running[0][0] <= now:
            free += heapq.heappop(running)[2]
        while i < len(arrivals) and arrivals[i].arrives <= now:
            queue.append(arrivals[i])
            i += 1
    return done


def static(jobs, gpus):
    """each user has a node: its own queue, for its GPUs"""
    done = []
    for user in sorted({j.user for j in jobs}):
        done += backfilled([j for j in jobs if j.user == user], NODE_GPUS, Job.on_own_node)
    return done


def queued(jobs, gpus):
    return backfilled(jobs, gpus, Job.on_any)


def looking(jobs, gpus):
    """kvgpu-run --wait without a scheduler: each looks every 2 s, and takes its GPUs when so many are free"""
    free, events, done = gpus, [], []
    for n, job in enumerate(jobs):
        heapq.heappush(events, (job.arrives, n, 0, job))
    while events:
        now, n, freed, job = heapq.heappop(events)
        if freed:
            free += freed
            continue
        wants, takes = job.on_any()
        if wants <= free:
            free -= wants
            done.append((job, now, now + takes, wants))
            heapq.heappush(events, (now + takes, n, wants, job))
        else:
            heapq.heappush(events, (now + COSTS["look_s"], n, 0, job))
    return done


WAYS = (("static: a user's own node", static), ("whole cluster, one queue (Slurm)", queued),
        ("whole cluster, `kvgpu-run --wait`", looking))


def check(done, jobs, gpus):
    """each job ran once, none before it came, and never on more GPUs than there are"""
    assert sorted(id(d[0]) for d in done) == sorted(map(id, jobs))
    assert all(begin >= job.arrives for job, begin, _, _ in done)
    taken = 0
    for _, n in sorted([(begin, n) for _, begin, _, n in done] + [(end, -n) for _, _, end, n in done]):
        taken += n
        assert taken <= gpus
    assert not taken


def judge(way, seed, gpus, load):
    jobs = jobs_of(seed, gpus, load)
    done = way(jobs, gpus)
    check(done, jobs, gpus)
    makespan = max(d[2] for d in done) - min(j.arrives for j in jobs)
    response = sorted(end - job.arrives for job, _, end, _ in done)
    return {"makespan": makespan, "mean": statistics.mean(response), "p95": response[len(response) * 95 // 100],
            "longest": response[-1], "use": 100 * sum(j.work for j in jobs) / gpus / makespan}


def mix(gpus, loads, seeds):
    print(f"\n**{gpus} GPUs, {JOBS_PER_GPU * gpus} jobs**, mean of {seeds} seeds; seconds\n")
    print("| arriving work | allocation | makespan | mean response | 95 % within | longest | GPUs compute |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for load in loads:
        for name, way in WAYS:
            rows = [judge(way, seed, gpus, load) for seed in range(seeds)]
            mean = {k: statistics.mean(r[k] for r in rows) for k in rows[0]}
            print(f"| {f'{load * 100:.0f} %' if load else 'all at once'} | {name} | {mean['makespan']:,.0f} | {mean['mean']:,.0f} | "
                  f"{mean['p95']:,.0f} | {mean['longest']:,.0f} | {mean['use']:.0f} % |")


# ------------------------------------------------------------------ one program on many GPUs

def turn_us(gpus):
    return COSTS["turn_us"] + COSTS["turn_each_us"] * gpus


def call_us(gpus):
    return COSTS["call_us"] + COSTS["call_each_us"] * (gpus - 1)


def broadcast(gpus, size):
    """
    seconds by n copies, and by the binary tree, each GPU in a machine of its own: a machine in the middle sends each byte twice, so
    pieces follow each other at half the link's rate, and the last GPU is as many pieces behind as the tree is deep
    """
    rate, piece = COSTS["remote_Bps"], COSTS["staging_B"]
    if gpus == 1:
        return size / rate, size / rate
    depth = math.ceil(math.log2(gpus + 1))
    return gpus * size / rate, 2 * size / rate + depth * 2 * piece / rate


def in_steps(gpus, compute_s, count, calls=3):
    """
    Seconds of a program that computes for so long on one GPU in so many steps. In each step it makes some calls for each GPU, which
    wait, for all GPUs at once. The broker, one thread, passes on all of them.
    """
    answered = max(call_us(gpus), gpus * COSTS["broker_us"]) * 1e-6
    return start_up(gpus) + compute_s / gpus + count * calls * answered


def many():
    print("\n**One program**\n")
    print("| GPUs | start and end | a turn of the broker | a call, at best | calls of all GPUs at once | 1 GiB to all: n copies | "
          "by the tree | speed-up, an hour in 1,000 steps | in 100,000 |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for n in (1, 8, 64, 256, 1024):
        copies, tree = broadcast(n, 1 << 30)
        few, lots = (in_steps(1, 3600, count) / in_steps(n, 3600, count) for count in (1000, 100000))
        print(f"| {n:,} | {start_up(n):.1f} s | {turn_us(n):,.0f} us | {call_us(n):,.0f} us | "
              f"{max(call_us(n), n * COSTS['broker_us']) / 1000:,.1f} ms | {copies:,.1f} s | {tree:.2f} s | {few:,.1f} | {lots:,.1f} |")


if __name__ == "__main__":
    print("Costs: " + ", ".join(f"{k} {v:g}" for k, v in COSTS.items()))
    mix(8, (0.5, 0.8, 0), 20)
    mix(256, (0.8,), 2)
    mix(1024, (0.8,), 1)
    many()
