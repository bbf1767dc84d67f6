# SPDX-License-Identifier: GPL-2.0-only
"""The two reports: a page for a person, and JSON for programs. gk110-model --board-file reads "registers" of it: the first
member of that name of each register, so they stand before the stages."""
import textwrap

WIDTH = 100
MARK = {"pass": "passed", "fail": "FAILED", "skip": "skipped"}


def lines(text, first="", rest=None):
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest if rest is not None else " " * len(first),
                         break_long_words=False, break_on_hyphens=False) or [first.rstrip()]


def page(data):
    """The page, of what as_json() made."""
    out = lines(f"kvgpu-verify {data['version']} of {data['when']}: card {data['card']}, device {data['machine'].get('device')}, "
                f"Linux {data['machine'].get('kernel')}") + [""]
    for s in data["stages"]:
        out.append(f"  {s['name']:<12} {MARK[s['status']]:<8} {s['seconds']:6.1f} s" + (f"  {s['cause']}" if s["status"] == "skip" else ""))
    bad = [s for s in data["stages"] if s["status"] == "fail"]
    out.append("")
    for s in bad:
        out += lines(f"The stage {s['name']} failed. {s['cause']}") + (lines("What to do: " + s["advice"]) if s["advice"] else []) + [""]
    if not bad:
        ran = sum(s["status"] == "pass" for s in data["stages"])
        out += lines(f"{ran} of {len(data['stages'])} stages ran, and all of these passed.") + [""]
    out.append("What was seen")
    for s in data["stages"]:
        for note in s["notes"]:
            out += lines(note, f"  {s['name']}: ", "      ")
    out += ["", "Questions of docs/supported.md"]
    for t, answer in data["questions"].items():
        out += lines(answer, f"  {t:<4} ")
    skips = [s for s in data["stages"] if s["status"] == "skip" and s["advice"]]
    if skips:
        out += ["", "To run what was skipped"]
        for s in skips:
            out += lines(s["advice"], f"  {s['name']}: ", "      ")
    return "\n".join(out) + "\n"


def as_json(run, version, when, done, seconds, answers):
    return {
        "format": 1, "version": version, "when": when, "card": run.card.address,
        "board": run.board, "registers": run.registers,
        "machine": dict(done["machine"].facts, **run.facts) if "machine" in done else run.facts,
        "stages": [{"name": name, "status": o.status, "cause": o.cause, "advice": o.advice, "seconds": round(seconds[name], 1),
                    "notes": o.notes, "facts": o.facts} for name, o in done.items()],
        "questions": answers, "log": run.kept,
    }
