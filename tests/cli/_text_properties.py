# SPDX-License-Identifier: GPL-2.0
"""_text_properties.py GRTRACE SOURCES: what must hold for every form of text, in TAP.

Permuted: the lines in another order (shuffled, reversed, a CPU after the other) tell the same. What goes by the
line before it moves with that line: bpftrace's maps, which have no stamp, and messages of several lines.
Repeated: each line twice, or the text twice, gives the same jobs.
Cut: what stands before a cut is told the same, and nothing else of it.

Jobs of made texts are compared with what this program made, records of other texts with those of the text as
it stands.
"""
import collections, csv, io, random, re, subprocess, sys

program, sources = sys.argv[1:3]
golden = f"{sources}/tests/golden"
checks = 0


def result(good, name, why=""):
    global checks
    checks += 1
    print(f"{'ok' if good else 'not ok'} {checks} - {name}")
    if not good:
        print("\n".join("# " + line for line in str(why).splitlines()[:20]))


def say(text, *args):
    ran = subprocess.run([program, *args], input=text, capture_output=True)
    if ran.returncode < 0 or ran.returncode > 1 or b"Sanitizer" in ran.stderr:
        return f"status {ran.returncode}\n{ran.stderr.decode(errors='replace')}"
    return ran.stdout.decode(errors="surrogateescape")


# A trace of the scheduler ---------------------------------------------------

Job = collections.namedtuple("Job", "submit commit end complete ring tid")


class Machine:
    """Jobs on three rings of one device, and the lines that the kernel prints of them."""

    RINGS = {"gfx_0.0.0": 141, "comp_1.0.0": 142, "sdma0": 143}

    def __init__(self, seed, flavour, unit):
        self.r = random.Random(seed)
        self.flavour = flavour
        self.unit = unit  # ns of the last digit that is printed
        self.lines = []  # (ns, text)
        self.jobs = []
        self.next_id = collections.Counter()
        self.free = {ring: 0 for ring in self.RINGS}
        self.address = [0xffff888100000000 + 0x40 * n for n in range(12)]
        self.returns = []  # (when, address): fences that are freed
        self.seqno = collections.Counter()
        self.now = 5_000_000_000_000
        for _ in range(250):
            self.job()
        self.lines.sort(key=lambda l: l[0])

    def print(self, ns, comm, tid, cpu, text):
        ns -= ns % self.unit
        digits = 9 if self.unit == 1 else 6
        stamp = f"{ns // 10**9}.{ns % 10**9 // (1 if self.unit == 1 else 1000):0{digits}}"
        self.lines.append((ns, f"{comm:>16}-{tid:<7} [{cpu:03}] ..... {stamp}: {text}\n"))
        return ns

    def fence(self):
        self.returns.sort()
        while self.returns and self.returns[0][0] < self.now:
            self.address.append(self.returns.pop(0)[1])
        return self.address.pop() if self.address else None

    def job(self):
        self.now += self.r.randrange(3_000, 60_000)
        ring = self.r.choice(list(self.RINGS))
        fence = self.fence()
        if fence is None:
            self.now = self.returns[0][0] + 1_000
            fence = self.fence()
        tid = self.r.choice([500, 600, 700])
        cpu = {500: 0, 600: 1, 700: 2}[tid]
        ctx = 11 + 2 * (tid // 100) + 20 * list(self.RINGS).index(ring)
        self.seqno[ctx] += 1
        # numbers of one device are those of all rings, but wrap in old kernels' text
        self.next_id[ring] += 1
        getattr(self, self.flavour)(ring, f"app{tid}", tid, cpu, ctx, self.seqno[ctx], self.next_id[ring], fence)

    def times(self, ring):
        submit = self.now
        commit = max(submit, self.free[ring] - self.r.randrange(0, 20_000)) + self.r.randrange(1_500, 20_000)
        end = max(commit, self.free[ring]) + self.r.randrange(20_000, 200_000)
        self.free[ring] = end
        return submit, commit, end

    def plain(self, ring, comm, tid, cpu, ctx, seqno, number, fence):
        submit, commit, end = self.times(ring)
        a = self.print(submit, comm, tid, cpu, f"drm_sched_job: entity=00000000{ctx:08x}, id={number}, "
                       f"fence={fence:016x}, ring={ring}, job count:0, hw job count:0")
        b = self.print(commit, ring, self.RINGS[ring], 3, f"drm_run_job: entity=00000000{ctx:08x}, id={number}, "
                       f"fence={fence:016x}, ring={ring}, job count:0, hw job count:1")
        c = self.print(end, "<idle>", 0, self.r.randrange(4), f"drm_sched_process_job: fence={fence:016x} signaled")
        self.returns.append((end + 2_000, fence))
        self.jobs.append(Job(a, b, c, c, ring, tid))

    def armed(self, ring, comm, tid, cpu, ctx, seqno, number, fence):
        submit, commit, end = self.times(ring)
        for n in (ctx - 1, ctx):
            self.print(submit, comm, tid, cpu, f"dma_fence_init: driver=drm_sched timeline={ring} "
                       f"context={n} seqno={seqno}")
        a = self.print(submit + 900, comm, tid, cpu, f"drm_sched_job: entity=00000000{ctx:08x}, id={number}, "
                       f"fence={fence:016x}, ring={ring}, job count:0, hw job count:0")
        b = self.print(commit, ring, self.RINGS[ring], 3, f"drm_run_job: entity=00000000{ctx:08x}, id={number}, "
                       f"fence={fence:016x}, ring={ring}, job count:0, hw job count:1")
        on = self.r.randrange(4)
        c = self.print(end, "<idle>", 0, on, f"drm_sched_process_job: fence={fence:016x} signaled")
        d = self.print(end + 700, "<idle>", 0, on, f"dma_fence_signaled: driver=drm_sched timeline={ring} "
                       f"context={ctx} seqno={seqno}")
        self.returns.append((end + 3_000, fence))
        self.jobs.append(Job(a, b, c, d, ring, tid))

    def amdgpu(self, ring, comm, tid, cpu, ctx, seqno, number, fence):
        submit, commit, end = self.times(ring)
        of = f"sched_job={number}, timeline={ring}, context={ctx}, seqno={seqno}, ring_name=ffff91cb1ab1bdd0, num_ibs=1"
        a = self.print(submit, comm, tid, cpu, f"amdgpu_cs_ioctl: {of}")
        self.print(submit + 800, comm, tid, cpu, f"drm_sched_job: entity=00000000{ctx:08x}, id={number}, "
                   f"fence={fence:016x}, ring={ring}, job count:0, hw job count:0")
        b = self.print(commit, ring, self.RINGS[ring], 3, f"drm_run_job: entity=00000000{ctx:08x}, id={number}, "
                       f"fence={fence:016x}, ring={ring}, job count:0, hw job count:1")
        self.print(commit + 900, ring, self.RINGS[ring], 3, f"amdgpu_sched_run_job: {of}")
        on = self.r.randrange(4)
        c = self.print(end, "<idle>", 0, on, f"drm_sched_process_job: fence={fence:016x} signaled")
        d = self.print(end + 600, "<idle>", 0, on, f"dma_fence_signaled: driver=drm_sched timeline={ring} "
                       f"context={ctx} seqno={seqno}")
        self.returns.append((end + 3_000, fence))
        self.jobs.append(Job(a, b, c, d, ring, tid))

    def fences(self, ring, comm, tid, cpu, ctx, seqno, number, fence):
        submit, commit, end = self.times(ring)
        self.returns.append((end, fence))
        of = f"dev=0000:03:00.0, fence={ctx}:{seqno}, ring={ring}, job count:0, hw job count:0, client_id:7"
        a = self.print(submit, comm, tid, cpu, f"drm_sched_job_queue: {of}")
        b = self.print(commit, ring, self.RINGS[ring], 3, f"drm_sched_job_run: {of}")
        on = self.r.randrange(4)
        c = self.print(end, "<idle>", 0, on, f"drm_sched_job_done: fence={ctx}:{seqno} signaled")
        d = self.print(end + 500, "<idle>", 0, on, f"dma_fence_signaled: driver=drm_sched timeline={ring} "
                       f"context={ctx} seqno={seqno}")
        self.jobs.append(Job(a, b, c, d, ring, tid))


def jobs_of(text, *options):
    rows = csv.DictReader(io.StringIO(say(text, "report", "-i", *options, "--by", "job", "--csv")))

    def number(row, key):
        return int(row[key]) if row[key] else None
    return collections.Counter(
        Job(number(row, "submit"), number(row, "commit"), number(row, "end"), number(row, "complete"),
            row["ring_name"], number(row, "tid")) for row in rows)


def cpu_of(line):
    m = re.search(r"\[(?:CPU)?(\d+)\]", line)
    return int(m.group(1)) if m else -1


def orders(lines, seeds):
    for seed in range(1, seeds + 1):
        moved = lines[:]
        random.Random(seed).shuffle(moved)
        yield f"shuffled, seed {seed}", moved
    yield "reversed", lines[::-1]
    yield "a CPU after the other", sorted(lines, key=cpu_of)
    yield "the end first", lines[len(lines) // 2:] + lines[:len(lines) // 2]


def join(lines):
    return "".join(lines).encode(errors="surrogateescape")


def differ(a, b):
    return "\n".join(f"only here: {x}" for x in (a - b)) + "\n" + "\n".join(f"missing: {x}" for x in (b - a))


def store(text):
    with open("text", "wb") as f:
        f.write(text)
    return "text"


def of_file(text):
    return jobs_of(None, store(text))


for flavour in ("plain", "armed", "amdgpu", "fences"):
    for unit in (1, 1000):
        name = f"{flavour}, stamps of {unit} ns"
        m = Machine(7, flavour, unit)
        truth = collections.Counter(m.jobs)
        lines = [text for _, text in m.lines]
        got = of_file(join(lines))
        result(got == truth, f"{name}: the jobs that were made", differ(got, truth))
        for order, moved in orders(lines, 2):
            got = of_file(join(moved))
            result(got == truth, f"{name}, {order}: the same jobs", differ(got, truth))
        got = jobs_of(join(next(orders(lines, 1))[1]), "-")
        result(got == truth, f"{name}, shuffled, through a pipe: the same jobs", differ(got, truth))
        for how, twice in (("each line twice", [line for line in lines for _ in (1, 2)]),
                           ("the text twice", lines + lines)):
            got = of_file(join(twice))
            result(got == truth, f"{name}, {how}: the same jobs", differ(got, truth))
        whole = join(lines)
        bad = ""
        for cut in range(len(whole) // 3, len(whole), len(whole) // 5 + 13):
            # all stamps of a job that are there are true ones, but for a COMPLETE that the END stands for
            upto = whole[:whole.rfind(b"\n", 0, cut) + 1]
            for job in of_file(upto):
                if not any(all(a is None or a == b for a, b in zip(job[:3], t[:3])) and
                           job.complete in (None, t.complete, t.end) for t in truth):
                    bad += f"{cut}: {job}\n"
        result(not bad, f"{name}, cut: no other jobs", bad)

# Logs ----------------------------------------------------------------------

def kernel_log(seed):
    """Rings that hang, each with its process in another line; GPUs that are lost, in lines and Xids."""
    r = random.Random(seed)
    lines, truth, us = [], collections.Counter(), 100_000_000

    def say_at(at, text):
        lines.append(f"[{at // 10**6:6}.{at % 10**6:06}] {text}\n")

    for n in range(60):
        us += r.randrange(20, 400)
        if n % 5 == 4:
            buses = r.sample(range(1, 250), 2)
            for bus in buses:
                say_at(us := us + 1, f"NVRM: GPU 0000:{bus:02x}:00.0: GPU has fallen off the bus.")
            for bus in r.sample(buses, 2):
                say_at(us := us + 1, f"NVRM: Xid (PCI:0000:{bus:02x}:00): 79, pid={5000 + n}, name=p{n}, lost")
                truth[(us, "XID", 5000 + n)] += 1
            us += 2_000_000
            continue
        at = us
        say_at(us, f"amdgpu 0000:28:00.0: amdgpu: ring comp_1.{n % 3}.0 timeout, signaled seq=1, emitted seq=2")
        say_at(us := us + r.randrange(1, 300), f"amdgpu 0000:28:00.0: amdgpu: Process information: process p{n} "
               f"pid {4000 + n} thread t pid {4500 + n}")
        say_at(us := us + 1, "usb 1-1: new device")
        truth[(at, "ERROR", 4000 + n)] += 1
    return lines, truth


def amd_log(seed):
    """Dispatches of five threads, the kernel's name before each, packets that are wrapped."""
    r = random.Random(seed)
    records, truth, us = [], collections.Counter(), 175_000_000
    for n in range(120):
        thread, name = 0x7f0000001000 + r.randrange(5), f"kernel_{r.randrange(9)}"
        head = f"us: [pid:4321 tid: {thread:#x}]"
        us += r.randrange(2, 90)
        records.append(f":3:hip_module.cpp :700 : {us} {head} ShaderName : {name}\n")
        us += r.randrange(1, 9)
        packet = (f":4:rocvirtual.cpp :930 : {us} {head} SWq=0x10, HWq=0x20, id=7, Dispatch Header = 0xb02 (type=2, "
                  f"barrier=1, acquire=1, release=1), setup=3, grid=[{64 * (n + 1)}, 1, 1], workgroup=[64, 1, 1], "
                  "private_seg_size=0, group_seg_size=0, kernel_obj=0x30, kernarg_address=0x40, "
                  "completion_signal=0x50, correlation_id=0, rptr=5, wptr=6\n")
        records.append(packet.replace(", setup", ",\nsetup") if n % 3 == 0 else packet)
        truth[(us, 64 * (n + 1), name)] += 1
    return records, truth


def stamp_of(line):
    return int(line.split()[0].replace(".", "")) // 1000


def of_kernel_log(text):
    return collections.Counter(
        (stamp_of(line), line.split()[2], int((re.search(r" pid=(\d+)/", line) or [0, 0])[1]))
        for line in say(None, "dump", text).splitlines() if re.search(r" (XID|ERROR) ", line))


def of_amd_log(text):
    return collections.Counter(
        (stamp_of(line), int(re.search(r"grid_x=(\d+)", line)[1]), (re.search(r'name="([^"]*)', line) or [0, ""])[1])
        for line in say(None, "dump", text).splitlines() if " LOG_DISPATCH " in line)


for name, make, read in (("kernel log", kernel_log, of_kernel_log), ("AMD's log", amd_log, of_amd_log)):
    lines, truth = make(3)
    for order, moved in (("as made", lines), *orders(lines, 3)):
        got = read(store(join(moved)))
        result(got == truth, f"{name}, {order}: what was made", differ(got, truth))
    upto = lines[:len(lines) // 2]
    got = read(store(join(upto)))
    # a message may lack the second line, which names the process
    known = {t[:2] for t in truth}
    result(got and all(g in truth or (g[:2] in known and not g[2]) for g in got), f"{name}, cut: no other records",
           differ(got, truth))

# Texts as they are ---------------------------------------------------------

TEXTS = ["ftrace/sched.trace", "ftrace/amdgpu.report", "ftrace/i915.script", "ftrace/late.trace",
         "ftrace/armed.trace", "ftracefunc/events.trace", "annotate/foreign.in", "annotate/merged.in",
         "nvsched/ours.in", "nvsched/foreign.in", "bpftrace/scheduler.txt", "bpftrace/nvidia.txt", "bpftrace/kernlog.txt",
         "amdlog/era-45.log", "amdlog/era-57.log",
         "amdlog/faults.log", "amdlog/oddities.log"]
# A time of day counts days by the steps back.
BY_THE_DAY_BEFORE = {"nvsched/foreign.in"}


def records(text):
    return collections.Counter(line for line in say(None, "dump", store(text)).splitlines()
                               if " NAME " not in line)


def is_map(line):
    return line.startswith("@")


HEADER = re.compile(r"^\S*?:\d:[^:]+:\s*\d+\s*:\s*\d+d? us:|^ *: \d:.* us ")


def is_rest(path, line):
    """Whether a line goes by the one before it: bpftrace's maps, lines of AMD's log that have no stamp."""
    return is_map(line) or (path.startswith("amdlog/") and not HEADER.search(line))


def in_place(path, line):
    """Whether a line has a place: its stamp, or the line before it."""
    return is_rest(path, line) or (not line.startswith("#") and re.search(r"\d[.:]\d|^\d|\d us", line))


def blocks_of(path, lines):
    """Lines that can be moved: each with those behind it that go by it."""
    blocks = []
    for line in lines:
        if blocks and is_rest(path, line):
            blocks[-1] += line
        else:
            blocks.append(line)
    return blocks


for path in TEXTS:
    with open(f"{golden}/{path}", encoding="utf-8", errors="surrogateescape") as f:
        lines = [line if line.endswith("\n") else line + "\n" for line in f if in_place(path, line)]
    whole = records(join(lines))
    result(sum(whole.values()) > 1, f"{path}: has records", whole)
    for order, moved in orders(blocks_of(path, lines), 2):
        if path in BY_THE_DAY_BEFORE and order == "reversed":
            continue
        got = records(join(moved))
        result(got == whole, f"{path}, {order}: the same records", differ(got, whole))
    text = join(lines)
    bad = ""
    for cut in range(1, len(text), max(1, len(text) // 8)):
        if (said := say(None, "dump", store(text[:cut]))).startswith("status"):
            bad += said
    result(not bad, f"{path}, cut anywhere: read, or refused", bad)
    got = say(None, "report", "-i", store(join([l for line in lines for l in (line, line)])))
    result(not got.startswith("status"), f"{path}, each line twice: read", got)
print(f"1..{checks}")
