"""The figures as text, together with the aims."""

import statistics


def median(values):
    return statistics.median(list(values))


def line(result):
    store = result["store"] if result["system"] in ("gotchu", "base") else ""
    kind = "one payee" if result["hot"] else "uniform"
    cpu = result.get("server_us", 0), result.get("database_us", 0)
    return (f"{result['system']:8} {store:10} {result['connections']:4} {kind:10}"
            f"{result['per_second']:9.0f}/s  p50 {result['p50_ms']:8.2f}  p99 "
            f"{result['p99_ms']:8.2f} ms   CPU/payment {cpu[0]:6.0f} + {cpu[1]:5.0f} µs"
            f"   load {result['load']:.1f}")


class Report:
    def __init__(self):
        self.lines = []
        self.aims = []

    def add(self, text=""):
        self.lines.append(text)

    def aim(self, name, value, bound, at_least=True, unit=""):
        reached = value >= bound if at_least else value <= bound
        sign = "≥" if at_least else "≤"
        self.aims.append(
            {"aim": name, "value": value, "bound": f"{sign} {bound:g}", "reached": reached})
        mark = "reached" if reached else "MISSED "
        self.add(f"{mark}  {name}: {value:.2f}{unit} (aim {sign} {bound:g}{unit})")

    def table(self, title, results):
        self.add()
        self.add(title)
        for result in results:
            self.add("  " + line(result))

    def sales(self, found):
        """Reports the rates of whole sales."""
        for connections, rounds in found.items():
            self.add()
            self.add(f"Whole sales, {connections} at a time, in turns (medians of {len(rounds)})")
            for name in rounds[0]:
                self.sale([sold[name] for sold in rounds])
        for connections, rounds in found.items():
            if connections > 1:
                self.add()
                # A cluster has no aims; see docs/scale.md.
                for store in dict.fromkeys(store for _, store in rounds[0] if store != "Citus"):
                    self.sale_aims(store, connections, rounds)

    def takes(self, found):
        """Reports the CPU cost of a take, and that sales without a take cost no more than
        before."""
        for connections, rounds in found.items():
            self.add()
            self.add(f"Whole sales without and with a take, {connections} at a time, in turns "
                     f"(medians of {len(rounds)})")
            for name in rounds[0]:
                self.sale([sold[name] for sold in rounds])
            for store in dict.fromkeys(store for system, store in rounds[0] if system == "take"):
                self.take_aims(store, rounds)

    def take_aims(self, store, rounds):
        def cpu(sold, system):
            result = sold[system, store]
            return result["server_us"] + result["database_us"]

        self.aim(f"CPU a sale with a take − without, {store}",
                 median(cpu(sold, "take") - cpu(sold, "gotchu") for sold in rounds), 20,
                 at_least=False, unit=" µs")
        if ("base", store) in rounds[0]:
            self.aim(f"CPU a sale without a take : before, {store}",
                     median(cpu(sold, "gotchu") / cpu(sold, "base") for sold in rounds), 1.05,
                     at_least=False)

    def sale(self, results):
        def middle(read):
            return median(read(result) for result in results)

        first = results[0]
        self.add(f"  {first['system']:8} {first['store']:10}"
                 f"{middle(lambda r: r['per_second']):9.0f} sales/s   CPU/sale "
                 f"{middle(lambda r: r['server_us']):6.0f} + "
                 f"{middle(lambda r: r['database_us']):5.0f} µs   load "
                 f"{middle(lambda r: r['load']):.1f}")
        self.add("    p50, p99 in ms: " + " · ".join(
            f"{call} {middle(lambda r: r['calls'][call]['p50_ms']):.1f}, "
            f"{middle(lambda r: r['calls'][call]['p99_ms']):.1f}" for call in first["calls"]))

    def sale_aims(self, store, connections, rounds):
        ours, where = ("gotchu", store), f"{store}, {connections} at a time"

        def ratio(other, read):
            return median(read(sold[ours]) / read(sold[other]) for sold in rounds)

        cpu = median(sold[ours]["server_us"] for sold in rounds)
        self.aim(f"server CPU a sale, {where}", cpu, 250, at_least=False, unit=" µs")
        if ("base", store) in rounds[0]:
            self.aim(f"sales/s : before, {where}",
                     ratio(("base", store), lambda r: r["per_second"]), 2)
        fastapi = ("fastapi", "PostgreSQL")
        if fastapi in rounds[0]:
            self.aim(f"sales/s : FastAPI, {where}", ratio(fastapi, lambda r: r["per_second"]), 8)
            worst = {call: ratio(fastapi, lambda r: r["calls"][call]["p99_ms"])
                     for call in rounds[0][ours]["calls"]}
            slowest = max(worst, key=worst.get)
            self.aim(f"p99 : FastAPI's, the worst call ({slowest}), {where}", worst[slowest], 0.1,
                     at_least=False)

    def pairs(self, rounds):
        self.table("At 64 connections on PostgreSQL, in turns (medians below)",
                   (result for found in rounds for result in found.values()))
        self.add()

        def ratio(ours, theirs, name="per_second"):
            return median(found[ours][name] / found[theirs][name] for found in rounds)

        hot, uniform = ("gotchu", True), ("gotchu", False)
        for ours in (uniform, hot):
            theirs = "base", ours[1]
            if theirs in rounds[0]:
                server, database = (
                    ratio(ours, theirs, name) for name in ("server_us", "database_us"))
                self.add(f"CPU a payment : before, {'one payee' if ours[1] else 'uniform'}: server "
                         f"{server:.2f}, database {database:.2f}")
        self.aim("one payee : uniform", ratio(hot, uniform), 0.9)
        self.aim("uniform : pgbench", ratio(uniform, ("pgbench", False)), 3)
        self.aim("uniform : FastAPI", ratio(uniform, ("fastapi", False)), 10)
        self.aim("one payee : pgbench", ratio(hot, ("pgbench", True)), 10)
        self.aim("one payee : FastAPI", ratio(hot, ("fastapi", True)), 20)
        self.aim("p99 : FastAPI's, uniform", ratio(uniform, ("fastapi", False), "p99_ms"), 0.1,
                 at_least=False)

    def single(self, found):
        self.add()
        for kind, pairs in found.items():
            payment, commit = (median(pair[index] for pair in pairs) for index in (0, 1))
            self.aim(f"a lone client on {kind}: {payment:.2f} ms, a bare commit {commit:.2f} ms; "
                     "over it", payment - commit, 2, at_least=False, unit=" ms")

    def growth(self, title, found):
        self.table(f"Cost as the books of {title} grow", found)
        for result in found:
            log = f", {result['log_bytes'] / 1024:.1f} KiB of log" if "log_bytes" in result else ""
            self.add(f"    from {result['entries']} entries: "
                     f"{result['server_us'] + result['database_us']:.0f} µs of CPU{log} a payment; "
                     f"the books have {result['bytes'] / 2**20:.0f} MiB")
        whole = [result["server_us"] + result["database_us"] for result in found]
        self.aim(f"CPU per payment with {found[-1]['entries']} entries : with "
                 f"{found[0]['entries']}, {title}", whole[-1] / whole[0], 1.25, at_least=False)

    def backlog(self, title, found):
        self.table(f"With no webhook events due on {title}, and with many, in turns",
                   (result for pair in found for result in pair))
        self.aim(f"payments/s with events due : with none, {title}",
                 median(due["per_second"] / none["per_second"] for none, due in found), 0.9)

    def streams(self, found):
        self.add()
        self.add(f"Streams: {found['streams']} open, {found['refused']} refused; "
                 f"{found['before_mib']:.0f} MiB before, {found['after_mib']:.0f} MiB with them; "
                 f"{found['idle_cpu_seconds'] * 100:.1f} % of a core while nothing happens")
        if found["streams"]:
            whole = found["after_mib"] * 10_000 / found["streams"]
            self.aim("MiB with 10,000 idle streams"
                     + ("" if found["streams"] >= 10_000 else ", scaled from fewer"),
                     whole, 200, at_least=False, unit=" MiB")
