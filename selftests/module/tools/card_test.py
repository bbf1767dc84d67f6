#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: kvgpu-card without a card, on trees that look like sysfs and /proc. Stand behaves as the kernel does when a driver is
bound, unbound or loaded. Usage: card_test.py"""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

TREE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
sys.dont_write_bytecode = True


def load_command():
    loader = importlib.machinery.SourceFileLoader("command", f"{TREE}/tools/card/kvgpu-card")
    command = importlib.util.module_from_spec(importlib.util.spec_from_loader("command", loader))
    loader.exec_module(command)
    return command


command = load_command()
import lives  # noqa: E402 (kvgpu-card has made its folders known)
import system  # noqa: E402

A, B, AUDIO = "0000:01:00.0", "0000:02:00.0", "0000:01:00.1"
V, V2 = "11111111-0000-4000-8000-00000000000a", "22222222-0000-4000-8000-00000000000b"
PCI = "/sys/bus/pci"
# devices that each machine has, in the place of those of VFIO and DRM
GROUP_13, GROUP_20, GROUP_21, VFIO3, RENDER, NVIDIA0 = "/dev/zero", "/dev/null", "/dev/tty", "/dev/full", "/dev/random", "/dev/urandom"
results = []


def check(ok, what):
    results.append(bool(ok))
    print(f"{'ok' if ok else 'not ok'} {len(results)} - {' '.join(what.split())}")


class Stand(system.System):
    """A machine with two cards. says: what a driver says of a card that it refuses. programs: what commands say, (status, text) by
    the command's first words. did: what was bound and unbound, and commands."""

    def __init__(self, root):
        super().__init__(root)
        self.says, self.programs, self.did, self.posted, self.lines = {}, {}, [], True, 0
        for address, group in ((A, 13), (B, 14)):
            self.device(address, "0x10de", "0x030200", group)
        self.put("/dev/kmsg", "")
        self.put(f"{PCI}/drivers_autoprobe", "1")
        for driver in ("nouveau", "kvgpu", "vfio-pci"):
            self.programs[f"modprobe {driver}"] = (0, "")
        self.module("0.4", "AAAA")

    def put(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as f:
            f.write(text)

    def link(self, name, to=None):
        if to is None:
            return super().link(name)
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        os.symlink(to, self.path(name))
        return to

    def device(self, address, vendor, kind, group):
        real = f"/sys/devices/pci0000:00/{address}"
        for name, text in (("vendor", vendor), ("device", "0x1028"), ("class", kind), ("driver_override", "(null)")):
            self.put(f"{real}/{name}", text + "\n")
        self.link(f"{PCI}/devices/{address}", f"../../../devices/pci0000:00/{address}")
        if group:
            self.link(f"{real}/iommu_group", f"../../../kernel/iommu_groups/{group}")
            self.put(f"/sys/kernel/iommu_groups/{group}/type", "DMA\n")
            self.link(f"/sys/kernel/iommu_groups/{group}/devices/{address}", f"../../../../devices/pci0000:00/{address}")
            if group == 13:
                self.node("/sys/class/vfio/13", GROUP_13)

    def module(self, version, source):
        self.programs["modinfo -F version"], self.programs["modinfo -F srcversion"] = (0, version), (0, source)

    def with_driver(self, address, driver):
        os.makedirs(self.path(f"{PCI}/drivers/{driver}"), exist_ok=True)
        self.link(f"{PCI}/devices/{address}/driver", f"../../../bus/pci/drivers/{driver}")
        if driver == "nouveau":
            self.node(f"{PCI}/devices/{address}/drm/renderD128", RENDER)

    def node(self, folder, device):
        rdev = os.stat(device).st_rdev
        self.put(f"{folder}/dev", f"{os.major(rdev)}:{os.minor(rdev)}\n")

    def vgpu(self, address, uuid, group):
        self.link(f"{PCI}/devices/{address}/{uuid}/iommu_group", f"../../../../kernel/iommu_groups/{group}")
        self.node(f"/sys/class/vfio/{group}", GROUP_20)

    def process(self, pid, comm, words, *files):
        self.put(f"/proc/{pid}/comm", comm + "\n")
        self.put(f"/proc/{pid}/cmdline", "\0".join(words) + "\0")
        self.thread(pid, pid, "fd", *files)

    def thread(self, pid, thread, kind, *files):
        os.makedirs(self.path(f"/proc/{pid}/task/{thread}"), exist_ok=True)
        for i, file in enumerate(files):
            self.link(f"/proc/{thread}/{kind}/{i}", file)

    def say(self, text):
        self.lines += 1
        with open(self.path("/dev/kmsg"), "a") as f:
            f.write(f"6,{self.lines},0,-;{text}\n")

    def run(self, *argv, timeout=900):
        self.did.append(" ".join(argv))
        status, said = next((v for k, v in self.programs.items() if self.did[-1].startswith(k)), (127, "not found"))
        if argv[0] == "modprobe" and not status:
            os.makedirs(self.path(f"{PCI}/drivers/{argv[1]}"), exist_ok=True)
            self.did[-1] += f" with autoprobe {self.read(f'{PCI}/drivers_autoprobe')}"
        return status, said

    def write_apart(self, name, text):
        self.write(name, text)
        return subprocess.Popen(["true"], stderr=subprocess.PIPE)

    def write(self, name, text):
        if name.endswith("/unbind"):
            folder = self.path(f"{PCI}/devices/{text}")
            self.did.append(f"{text} leaves {super().link(f'{PCI}/devices/{text}/driver')}")
            os.unlink(f"{folder}/driver")
            for entry in os.listdir(folder):
                if entry == "drm" or entry.count("-") == 4:
                    shutil.rmtree(f"{folder}/{entry}")
        elif name == f"{PCI}/drivers_probe":
            driver = self.read(f"{PCI}/devices/{text}/driver_override")
            said = self.says.get(driver)
            if said:
                for line in said:
                    self.say(f"{driver} {text}: {line}")
                return
            if driver == "kvgpu" and not self.posted:
                self.say(f"kvgpu {text}: the card is not initialised: running its VBIOS's boot scripts")
                self.posted = True
            self.did.append(f"{text} gets {driver}")
            self.with_driver(text, driver)
        else:
            super().write(name, text)

    def card(self, *argv):
        """Runs the command: (exit code, what it said, what it complained of)"""
        out, err, self.did = io.StringIO(), io.StringIO(), []
        real, command.System = command.System, lambda root: self
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    status = command.main(list(argv))
                except SystemExit as e:
                    status = e.code
        finally:
            command.System = real
        return status, out.getvalue(), err.getvalue()

    def drivers(self):
        return [super(Stand, self).link(f"{PCI}/devices/{a}/driver") for a in (A, B)]


@contextlib.contextmanager
def stand(*drivers):
    with tempfile.TemporaryDirectory() as root:
        s = Stand(root)
        for address, driver in zip((A, B), drivers):
            if driver:
                s.with_driver(address, driver)
        yield s


def test_lives():
    with stand("nouveau", "nouveau") as s:
        status, said, err = s.card("share", "01:00.0")
        check(status == 0 and s.drivers() == ["kvgpu", "nouveau"] and f"{A} is shared (kvgpu)" in said, f"shared, and no other card changes ({said}{err})")
        check("modprobe kvgpu with autoprobe 0" in s.did and s.read(f"{PCI}/drivers_autoprobe") == "1",
              "a driver is loaded without taking cards that have none")
        check(any(d.startswith("udevadm settle") for d in s.did), "and udev's work is awaited, which starts vGPUs")
        status, _, err = s.card("whole", A)
        check(status == 0 and s.drivers() == ["vfio-pci", "nouveau"], f"whole ({err})")
        check(s.read(f"{PCI}/devices/{A}/driver_override") == "vfio-pci" and s.read(f"{PCI}/devices/{B}/driver_override") == "(null)",
              "driver_override is that card's alone")
        status, _, err = s.card("host", A)
        check(status == 0 and s.drivers() == ["nouveau", "nouveau"], f"the host's ({err})")
        status, said, _ = s.card("host", A, "--json")
        check(status == 0 and json.loads(said)["life"] == "host" and json.loads(said)["was"] == "host" and not [d for d in s.did if "gets" in d],
              "what it is already it stays")


def test_post():
    with stand("vfio-pci") as s:
        s.posted = False
        status, said, _ = s.card("host", A)
        check(status == 0 and [d for d in s.did if d.startswith(A)] ==
              [f"{A} leaves vfio-pci", f"{A} gets kvgpu", f"{A} leaves kvgpu", f"{A} gets nouveau"] and "boot scripts" in said,
              f"kvgpu POSTs a card that comes from vfio-pci ({s.did}, {said})")
    with stand() as s:
        s.posted = False
        status, _, _ = s.card("whole", A)
        check(status == 0 and s.posted and s.drivers()[0] == "vfio-pci", "and one that had no driver")
    with stand("nouveau") as s:
        s.card("whole", A)
        check(f"{A} gets kvgpu" not in s.did, "nouveau has POSTed its cards")
    with stand() as s:
        s.says["kvgpu"] = ["boot script of the VBIOS: opcode 0xff at 0x0123: unknown opcode", "bring-up failed at the POST: -22"]
        status, said, _ = s.card("whole", A)
        check(status == 0 and "not POSTed before it was handed on" in said and "unknown opcode" in said, f"a card that kvgpu can't POST is whole all the same, and why is told ({said})")


def refused(s, word, *argv):
    before = s.drivers()
    status, said, err = s.card(*argv)
    check(status == 1 and word in err and not said and s.drivers() == before and s.read("/etc/kvgpu/cards/" + A) is None,
          f"refused: {err.strip()}")
    status, said, _ = s.card(*argv, "--json")
    try:
        answer = json.loads(said)
    except ValueError:
        answer = {}
    check(status == 1 and word in answer.get("error", ""), "and as JSON")
    return answer.get("holders")


def test_holders():
    with stand("kvgpu") as s:
        s.vgpu(A, V, 20)
        s.process(4711, "qemu-system-x86", ["qemu", "-name", "guest=web,debug-threads=on"], "/dev/tty", GROUP_20)
        held = refused(s, f"guest web (process 4711) holds vGPU {V}", "whole", A)
        check(held == [{"kind": "guest", "name": "web", "pid": 4711, "holds": f"vGPU {V}"}], f"the holder as JSON ({held})")
        check(f"guest web (process 4711) holds vGPU {V}" in s.card("status", A)[1], "and status names it")
        check("web" not in s.card("status", B)[1], "but not at the other card")
        shutil.rmtree(s.path("/proc/4711"))
        s.node(f"{PCI}/devices/{A}/{V}/vfio-dev/vfio3", VFIO3)
        s.process(5, "vmm", ["vmm"], VFIO3)
        refused(s, f"process vmm (process 5) holds vGPU {V}", "host", A)
        shutil.rmtree(s.path("/proc/5"))
        status, said, _ = s.card("whole", A)
        check(status == 0 and V in said and not os.path.exists(s.path(f"{PCI}/devices/{A}/{V}")), "a vGPU that nobody uses goes, and is named")
        s.process(12, "qemu-system-x86", ["qemu", "-name", "db"], GROUP_13)
        os.unlink(s.path("/etc/kvgpu/cards/" + A))
        refused(s, "guest db (process 12) holds the card", "share", A)
    with stand("nouveau") as s:
        s.process(7, "X\033[2Jorg", ["Xorg"], RENDER)
        refused(s, "process X?[2Jorg (process 7) holds the card", "share", A)
        shutil.rmtree(s.path("/proc/7"))
        s.put(f"{PCI}/devices/{A}/resource0", "")
        s.process(8, "reader", ["reader"], s.path(f"{PCI}/devices/{A}/resource0"))
        refused(s, "process reader (process 8)", "share", A)
        shutil.rmtree(s.path("/proc/8"))
        s.process(9, "kvgpu-remoted", ["kvgpu-remoted"], RENDER)
        refused(s, "process kvgpu-remoted (process 9)", "share", A)
        s.programs["kvgpu-remotectl list"] = (0, json.dumps({"clients": [{"pid": 9, "who": "tls:lab-1"}]}))
        refused(s, "client tls:lab-1 of kvgpu-remoted (process 9)", "share", A)
    with stand("nvidia") as s:
        s.put("/proc/devices", "Character devices:\n  5 tty\n  1 nvidia-frontend\n")
        s.process(10, "nvidia-persiste", ["x"], NVIDIA0)
        refused(s, "process nvidia-persiste (process 10)", "share", A)


def test_hidden():
    """A VMM may open a vGPU so that none of its files has the node's name."""
    counts = f"/sys/kernel/debug/kvgpu/{A}/vgpus"
    row = f"1 {V} 512m %s partition 0x1 bar1 0x2 bar3 0x3 pramin 0x4\n"
    with stand("kvgpu", "kvgpu") as s:
        s.vgpu(A, V, 20)
        s.link("/tmp/moved", GROUP_20)
        s.process(3, "moved", ["vmm"], s.path("/tmp/moved"))
        refused(s, f"process moved (process 3) holds vGPU {V}", "host", A)
        s.put(counts, row % "open")
        check(len(json.loads(s.card("status", A, "--json")[1])["cards"][0]["holders"]) == 1, "a vGPU whose holder was found has no other one")
        shutil.rmtree(s.path("/proc/3"))
        s.process(4, "silent\033", ["vmm"], "anon_inode:[vfio-device]")
        s.process(5, "mapper", ["vmm"])
        s.thread(5, 5, "map_files", "/usr/bin/vmm", "anon_inode:[vfio-device]")
        s.process(6, "other", ["sh"], "/dev/tty")
        held = refused(s, f"vGPU {V} is held by a process that can't be named", "host", A)
        check(held == [{"kind": "unknown", "name": None, "pid": None, "holds": f"vGPU {V}", "may_be": ["silent? (process 4)", "mapper (process 5)"]}],
              f"those that it may be ({held})")
        s.put(counts, row % "closed")
        check(s.card("host", A)[0] == 0, "a vGPU that is closed is nobody's")
    with stand("kvgpu", "kvgpu") as s:
        s.vgpu(A, V, 20)
        s.put("/sys/module/kvgpu/refcnt", "1\n")
        refused(s, "a vGPU of a card of kvgpu's is held by a process that can't be named", "host", A)
        s.process(7, "qemu-system-x86", ["qemu", "-name", "b"], VFIO3)
        s.node(f"{PCI}/devices/{B}/{V}/vfio-dev/vfio3", VFIO3)
        s.process(8, "decoy", ["vmm"], GROUP_21)
        s.link(f"{PCI}/devices/{B}/{V2}/iommu_group", "../../../../kernel/iommu_groups/21")
        s.node("/sys/class/vfio/21", GROUP_21)
        s.put(f"{PCI}/devices/{B}/resource0", "")
        s.process(9, "reader", ["reader"], s.path(f"{PCI}/devices/{B}/resource0"))
        s.put("/sys/module/kvgpu/refcnt", "2\n")
        refused(s, "a vGPU of a card of kvgpu's is held", "host", A)
        s.thread(8, 8, "map_files", "anon_inode:[vfio-device]")
        check(s.card("host", A)[0] == 0, "without debugfs, the module's use count: what another card's guests use is not hidden")
    with stand("vfio-pci") as s:
        s.put(f"{PCI}/devices/{A}/enable", "1\n")
        check(s.card("share", A)[0] == 0, "a whole card that was enabled when nobody has a VFIO device is nobody's")
        s.card("whole", A)
        s.process(4, "vmm", ["vmm"], "anon_inode:[vfio-device]")
        os.unlink(s.path("/etc/kvgpu/cards/" + A))
        refused(s, "the card is held by a process that can't be named", "share", A)
        s.put(f"{PCI}/devices/{A}/enable", "0\n")
        check(s.card("share", A)[0] == 0, "a whole card that is closed is nobody's")


def test_threads():
    """What a process holds needs no file of its first thread's."""
    for what, thread, kind in (("a thread with files of its own", 11, "fd"), ("a mapping", 10, "map_files"), ("a mapping of a thread that is left", 11, "map_files")):
        with stand("nouveau") as s:
            s.process(10, "hidden", ["x"])
            s.thread(10, thread, kind, RENDER)
            check("process hidden (process 10) holds the card" in s.card("share", A)[2], f"{what} holds the card")


def test_wait():
    """unbind is a pipe here: who writes to it waits until somebody reads."""
    with stand("kvgpu") as s:
        os.mkdir(s.path(f"{PCI}/drivers/nouveau"))
        pipe = s.path(f"{PCI}/drivers/kvgpu/unbind")
        os.mkfifo(pipe)
        script = "import sys; sys.argv[0] = 'x'; sys.dont_write_bytecode = True\nfrom card_test import *\nlives.PATIENCE_S = 0.1\nsys.exit(command.main(sys.argv[1:]))"
        with subprocess.Popen([sys.executable, "-c", script, "host", A, "--root", s.root], cwd=os.path.dirname(os.path.realpath(__file__)),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            first = child.stderr.readline().decode()
            check(f"kvgpu lets go of {A} when nobody uses it any more" in first, f"what it waits for is said ({first.strip()})")
            child.send_signal(signal.SIGINT)
            said, err = child.communicate(timeout=120)
        check(child.returncode == 1 and f"ended before {A} is host" in err.decode() and not said, f"and it can be ended ({err.decode().strip()})")
        with open(pipe) as f:
            check(f.read() == A, "the child waits on by itself")


def test_group():
    with stand("kvgpu") as s:
        s.device("0000:00:01.0", "0x8086", "0x060400", 13)
        s.device(AUDIO, "0x10de", "0x040300", 13)
        check(s.card("whole", A)[0] == 0, "bridges and devices without a driver may be in the group")
        check(f"IOMMU group 13 (DMA), with {AUDIO} (no driver)" in s.card("status", A)[1], "status shows the group")
    with stand("kvgpu") as s:
        s.device(AUDIO, "0x10de", "0x040300", 13)
        s.with_driver(AUDIO, "snd_hda_intel")
        refused(s, f"{AUDIO} (snd_hda_intel) is in IOMMU group 13", "whole", A)
        check(s.card("host", A)[0] == 0, "which the other lives do not mind")
    with stand("kvgpu") as s:
        os.unlink(s.path(f"/sys/devices/pci0000:00/{A}/iommu_group"))
        refused(s, "the IOMMU is off", "whole", A)


def test_failures():
    with stand("nouveau") as s:
        s.programs["modprobe kvgpu"] = (1, "modprobe: ERROR: could not insert 'kvgpu': Key was rejected by service\n")
        refused(s, "Secure Boot: enrol DKMS's key", "share", A)
        check(s.read(f"{PCI}/drivers_autoprobe") == "1", "drivers take new cards again")
    with stand("nouveau") as s:
        s.says["kvgpu"] = ["no firmware file kvgpu/gk110.fw: run kvgpu-firmware", "bring-up failed at the firmware: -2"]
        refused(s, "kvgpu does not take the card: step firmware: no firmware file", "share", A)
        check(s.drivers()[0] == "nouveau" and s.read(f"{PCI}/devices/{A}/driver_override") == "nouveau", "the driver that it had has it again")


def test_boot():
    with stand("kvgpu", "nouveau") as s:
        s.card("host", A)
        s.card("whole", B)
        again = {"01": s.read(f"/etc/kvgpu/cards/{A}"), "02": s.read(f"/etc/kvgpu/cards/{B}")}
        check(again == {"01": "host", "02": "whole"}, f"what was chosen is kept ({again})")
        for address in (A, B):
            os.unlink(s.path(f"{PCI}/devices/{address}/driver"))
        s.with_driver(A, "kvgpu")
        s.with_driver(B, "kvgpu")
        status, _, err = s.card("boot")
        check(status == 0 and s.drivers() == ["nouveau", "vfio-pci"] and s.did[0].startswith("udevadm settle"),
              f"the unit gives both cards their lives, after udev ({err})")
        s.put("/etc/kvgpu/cards/0000:09:00.0", "host\n")
        s.put(f"/etc/kvgpu/cards/{A}", "halb\n")
        status, _, err = s.card("boot")
        check(status == 1 and "0000:09:00.0: there is no such card" in err and "'halb' is none of shared, whole, host" in err and
              s.drivers() == ["nouveau", "vfio-pci"], f"wrong files are named ({err})")


def test_usage():
    with stand("kvgpu", "vfio-pci") as s:
        status, _, err = s.card("whole", "0000:09:00.0")
        check(status == 2 and f"there are: {A} (shared), {B} (whole)" in err, f"an unknown address lists the cards ({err.strip()})")
        status, said, _ = s.card("status", "09:00.0", "--json")
        check(status == 2 and json.loads(said)["cards"] == [A, B], "and as JSON")
        for argv, said in ((["share"], "wants the card's ADDRESS"), (["boot", A], "no ADDRESS"), (["half", A], 'no command "half"'),
                           (["shaer", A], 'the nearest is "share"'), (["status", "--jsno"], 'the nearest is "--json"'), (["share", A, B], B),
                           ([], "share ADDRESS     shared: kvgpu has the card")):
            status, _, err = s.card(*argv)
            check(status == 2 and said in err, f"wrong usage: {' '.join(argv)} ({err.strip()})")
        status, said, _ = s.card("status", "--json")
        cards = json.loads(said)["cards"]
        check([(c["life"], c["driver"], c["at_boot"]) for c in cards] == [("shared", "kvgpu", None), ("whole", "vfio-pci", None)], "status of all")
    with tempfile.TemporaryDirectory() as root:
        out = subprocess.run([f"{TREE}/tools/card/kvgpu-card", "status", "--root", root], stdout=subprocess.PIPE, check=False)
        check(out.returncode == 0 and b"no NVIDIA card" in out.stdout, "a machine without a card")
        out = subprocess.run([f"{TREE}/tools/card/kvgpu-card", "share", A, "--root", root], stderr=subprocess.PIPE, check=False)
        check(out.returncode == 2 and b"is no NVIDIA card; this machine has none (lspci" in out.stderr, f"also when one is named ({out.stderr})")


def shape(text):
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID", text)
    return re.sub(r"guest \S+ \(process \d+\)", "guest NAME (process N)", text).strip()


def test_screens():
    """docs/admin.md and the man page show what status prints, but for names"""
    with stand("kvgpu", "nouveau") as s:
        s.vgpu(A, V, 20)
        s.vgpu(A, V2, 21)
        s.process(1234, "qemu-system-x86", ["qemu", "-name", "guest=lab-1"], GROUP_20)
        s.put(f"/etc/kvgpu/cards/{A}", "shared\n")
        one, both = s.card("status", A)[1], s.card("status")[1]
    with open(f"{TREE}/docs/admin.md") as f:
        page = re.search(r"<!-- no commands: a screen, compared by \S+card_test\.py -->\n((?:    .*\n)+)", f.read())[1]
    with open(f"{TREE}/tools/card/kvgpu-card.8") as f:
        manual = re.search(r"^\.nf\n(.*?)^\.fi", f.read(), re.S | re.M)[1]
    check(shape(page.replace("\n    ", "\n")) == shape(one), f"the screen in docs/admin.md ({one})")
    check(shape(manual) == shape(both), f"the screen in the man page ({both})")


def notes(s):
    return json.loads(s.card("status", "--json")[1])["notes"]


def test_signs():
    with stand("kvgpu") as s:
        check(notes(s) == [], f"nothing to say ({notes(s)})")
        s.put("/sys/module/kvgpu/version", "0.4\n")
        s.put("/sys/module/kvgpu/srcversion", "AAAA\n")
        check(notes(s) == [], "the loaded module is the installed one")
        s.module("0.5", "BBBB")
        check(len(notes(s)) == 1 and "the loaded kvgpu.ko (0.4) is not the installed one (0.5)" in notes(s)[0] and "modprobe -r kvgpu" in notes(s)[0], "after an upgrade")
        s.put("/sys/module/kvgpu/version", "")
        check("(before 0.4)" in notes(s)[0], "one that does not tell its version")
        s.programs["modinfo"] = s.programs["modinfo -F version"] = s.programs["modinfo -F srcversion"] = (1, "not found")
        check("not installed for this kernel" in notes(s)[0], "no module")
    with stand() as s:
        key = "/var/lib/dkms/mok.pub"
        os.makedirs(s.path("/sys/firmware/efi/efivars"))
        with open(s.path("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"), "wb") as f:
            f.write(b"\6\0\0\0\1")
        check("dkms generate_mok" in notes(s)[0], "Secure Boot without a key of DKMS's")
        s.put(key, "")
        check("apt install mokutil" in notes(s)[0], "Secure Boot without mokutil")
        s.programs["mokutil --test-key"] = (0, f"{key} is not enrolled\n")
        check(f"mokutil --import {key}" in notes(s)[0] and "Enroll MOK" in notes(s)[0], "a key that is not enrolled, and what to type")
        s.programs["mokutil --test-key"] = (1, f"{key} is already in the enrollment request\n")
        check("waits to be enrolled" in notes(s)[0] and "--import" not in notes(s)[0], "a key that waits for a reboot")
        s.programs["mokutil --test-key"] = (1, f"{key} is already enrolled\n")
        check(notes(s) == [], "a key that is")


def completed(s, line):
    script = f". {TREE}/tools/card/kvgpu-card.bash; COMP_LINE=$1 COMP_POINT=${{#1}}; _kvgpu_card; echo ${{COMPREPLY[*]}}"
    out = subprocess.run(["bash", "-c", script, "bash", line], env=dict(os.environ, KVGPU_SYSFS=s.path("/sys")), stdout=subprocess.PIPE, check=False)
    return out.stdout.decode().split()


def test_files():
    with stand() as s:
        check(completed(s, "kvgpu-card s") == ["status", "share"], "completion of commands")
        check(completed(s, "kvgpu-card share ") == ["--json", A, B], "of cards")
        check(completed(s, "kvgpu-card share 0000:02") == ["02:00.0"], "of a card, behind the colon that was typed")
    with open(f"{TREE}/mdev/driver.c") as c, open(f"{TREE}/kvgpu.mk") as mk:
        version = next(line.split('"')[1] for line in c if line.startswith("MODULE_VERSION"))
        check(f"KVGPU_VERSION	:= {version}\n" in mk.read(), "the module tells the version that the tree has")
    out = subprocess.run(["man", "--warnings", "-l", f"{TREE}/tools/card/kvgpu-card.8"], env=dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="100"),
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False) if shutil.which("man") else None
    check(not out or not out.returncode and not out.stderr, f"the man page is read without a warning{'' if out else ' # SKIP no man'}")


if __name__ == "__main__":
    for test in (test_lives, test_post, test_holders, test_hidden, test_threads, test_wait, test_group, test_failures, test_boot, test_usage, test_screens, test_signs, test_files):
        test()
    print(f"1..{len(results)}")
    sys.exit(not all(results))
