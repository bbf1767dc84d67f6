# SPDX-License-Identifier: GPL-2.0-only
"""Stages "POST" and "bring-up": binds kvgpu to the card, and takes what happened from the kernel's log. With dynamic debug
on, kvgpu tells each step of bring-up that it has done (hw/hw.c)."""
import re

from registers import decode
from system import failed, passed, skipped

DRIVERS = "/sys/bus/pci/drivers"
AUTOPROBE = "/sys/bus/pci/drivers_autoprobe"
DEBUG = "/sys/kernel/debug"
# the register in which FECS told the size of a context when it started
CONTEXT_SIZE = "0x409804"
# steps of hw/hw.c up to the one that POSTs the card; all others are bring-up
POST_STEPS = ("chip", "VBIOS", "POST")
STEP = re.compile(r"bring-up: (.+): (\d+) us$")
FAILED = re.compile(r"bring-up failed at the (.+): (-\d+)$")
# what the module says of any card
NEWS = re.compile(r"verified on: |^graphics firmware from |^the card is not initialised|bytes a context$|^enabling device|^MDEV: ")
# what to do, by a word of the cause; the first that fits
ADVICE = (("boot script", "let nouveau drive the card once before kvgpu, and report opcode and offset"),
          ("no VBIOS", "the ROM does not answer: is the bus alive (stage registers)? Let nouveau drive the card once"),
          ("all ones", "turn the machine off and on"),
          ("have the GPCs power", "let nouveau drive the card once (kvgpu-card host, then kvgpu-card share), or turn the machine off and on; a reboot is not enough"),
          ("FECS", "run kvgpu-firmware again, and turn the machine off and on"),
          ("copy engine did not finish", "the card was cut off. Turn the machine off and on; report the log of this run"),
          ("was not taken", "PFIFO does not take the runlist: turn the machine off and on, and report the registers"),
          ("run kvgpu-firmware", "run kvgpu-firmware"),
          ("Key was rejected", "Secure Boot: enrol DKMS's key (mokutil --import /var/lib/dkms/mok.pub, then a reboot)"))


def advice(cause):
    return next((text for word, text in ADVICE if word in cause), "report the JSON file of this run")


def card_lines(lines, address):
    """What drivers said of the card, without their names."""
    mark = f"{address}: "
    return [line.split(mark, 1)[1] for line in lines if mark in line]


class BringUp:
    """What the kernel's log tells of one bring-up."""

    def __init__(self, lines, address):
        said = card_lines(lines, address)
        self.steps = {m[1]: int(m[2]) for m in map(STEP.match, said) if m}
        self.said = [s for s in said if not STEP.match(s)]
        at = next((i for i, s in enumerate(self.said) if FAILED.match(s)), None)
        self.failed_at = FAILED.match(self.said[at])[1] if at is not None else None
        # the module says why before it says where
        why = self.said[:at] if at is not None else self.said
        self.why = [s for s in why if not NEWS.search(s)]

    def cause(self):
        text = "; ".join(self.why[:3])
        return f"step {self.failed_at}: {text}" if text else f"step {self.failed_at}, error without a message"


def load(system, name):
    """Loads a driver without letting it take cards that have none. Returns an error, or nothing."""
    if system.exists(f"{DRIVERS}/{name}"):
        return ""
    was = system.read(AUTOPROBE, "1")
    system.write(AUTOPROBE, "0")
    try:
        status, said = system.run("modprobe", name)
    finally:
        system.write(AUTOPROBE, was)
    return " ".join(said.split()) or f"modprobe ended with {status}" if status else ""


def bind(run):
    error = load(run.system, "kvgpu")
    if error:
        return error
    try:
        run.system.write(f"{DEBUG}/dynamic_debug/control", "module kvgpu +p")
    except OSError:
        run.notes.append("no dynamic debug in this kernel: single steps of bring-up are not told")
    try:
        run.system.write(f"{DRIVERS}/kvgpu/bind", run.card.address)
    except OSError:
        pass  # the driver's link and the log tell more than the error
    return ""


def unbind(run, name="kvgpu"):
    if run.card.driver() == name:
        run.system.write(f"{DRIVERS}/{name}/unbind", run.card.address)


def post(run):
    if not run.system.exists(DEBUG + "/dynamic_debug") and not run.system.exists(DEBUG):
        return skipped("debugfs is not mounted", f"mount -t debugfs none {DEBUG}")
    run.log.mark()
    unbind(run)
    error = bind(run)
    if error:
        return failed(f"kvgpu.ko can't be loaded: {error}", advice(error))
    run.bring_up = b = BringUp(run.log.since(), run.card.address)
    if run.card.driver() != "kvgpu" and not b.failed_at:
        cause = "; ".join(b.said) or "kvgpu did not take the card, and said nothing"
        return failed(cause, advice(cause), notes=b.said)
    if b.failed_at in POST_STEPS:
        return failed(b.cause(), advice(b.cause()), {"steps_us": b.steps}, b.said)
    did = any("running its VBIOS's boot scripts" in s for s in b.said)
    return passed({"ran_boot_scripts": did, "us": b.steps.get("POST")},
                  ["kvgpu ran the VBIOS's boot scripts" if did else "the card was POSTed before"])


def debug_file(run, name):
    return run.system.read(f"{DEBUG}/kvgpu/{run.card.address}/{name}", "")


def live_registers(run):
    """The registers that kvgpu reads for debugfs while it drives the card."""
    words = [line.split() for line in debug_file(run, "registers").splitlines()]
    return {offset: int(value, 16) for offset, value in words}


def bring_up(run):
    b = run.bring_up
    if b.failed_at:
        return failed(b.cause(), advice(b.cause()), {"steps_us": b.steps}, b.said)
    facts = {"steps_us": b.steps, "card": debug_file(run, "card"),
             "temperature_mc": run.card.number("kvgpu/temperature_mc"),
             "core_clock_khz": run.card.number("kvgpu/core_clock_khz"), "mem_clock_khz": run.card.number("kvgpu/mem_clock_khz")}
    values = live_registers(run)
    if values:
        facts.update(board=decode(values), registers=values)
        run.board = facts["board"]
    size = re.search(r"(\d+) bytes a context", "\n".join(b.said))
    if size and values:
        run.board["context_bytes"] = values[CONTEXT_SIZE] = int(size[1])
    slow = max(b.steps, key=b.steps.get, default=None)
    notes = [s for s in b.why if s]
    if slow:
        notes.append(f"{len(b.steps)} steps; the longest one is {slow} with {b.steps[slow] / 1000:.0f} ms")
    return passed(facts, notes)
