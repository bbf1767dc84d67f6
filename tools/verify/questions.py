# SPDX-License-Identifier: GPL-2.0-only
"""The questions T1 to T28 of docs/supported.md, as far as the stages of one run answer them. An answer is what was seen;
nothing here judges whether it is good."""

GUEST = "open: wants a hostile guest (selftests/module/hostile)"


def by_stage(stage, answer):
    """@answer if the stage passed."""
    def ask(done):
        out = done.get(stage)
        if not out or out.status == "skip":
            return f"open: the stage {stage} was not run"
        return answer if out.status == "pass" else f"the stage {stage} failed: {out.cause}"
    return ask


def unless_said(text, stages, good, bad):
    """@bad if a stage's kernel log has the text, @good if these stages passed without it."""
    def ask(done):
        outs = [done.get(s) for s in stages]
        if any(o and (text in o.cause or any(text in n for n in o.notes)) for o in outs):
            return bad
        failed = [s for s, o in zip(stages, outs) if o and o.status == "fail"]
        missing = [s for s, o in zip(stages, outs) if not o or o.status == "skip"]
        if failed:
            return f"open: failed: {', '.join(failed)}"
        return f"open: not run: {', '.join(missing)}" if missing else good
    return ask


def preempt_time(done):
    facts = done["preempts"].facts if "preempts" in done else {}
    if not facts.get("preempts"):
        return "open: the stage preempts measured none"
    return (f"beside copies alone: {facts['preempts']} preempts, {facts['preempt_us']} us each, {facts['preempt_max_ms']:.2f} ms "
            "the longest one; beside kernels: wants guests")


def busy(done):
    one = done["shares"].facts.get("one") if "shares" in done else None
    return f"copies without a pause: busy {100 * one['busy']:.1f} % of the time" if one else "open: the stage shares was not run"


def copies_moved(done):
    stages = [done[stage] for stage in ("one guest", "two guests") if stage in done]
    facts = [v for stage in stages if stage.status == "pass" for v in stage.facts.values()]
    if not facts:
        return "open: wants a guest (--guest)"
    return "; ".join(f"copy_time_ns {v['copy_time_ns']}, gpu_time_ns {v['gpu_time_ns']}" for v in facts)


def memory(done):
    board = done["bring-up"].facts.get("board") if "bring-up" in done else None
    if not board:
        return "open: no bring-up of this run has told it"
    return f"{len(board['memory_mib'])} controllers with {sum(board['memory_mib'])} MiB in all; is that the board's size?"


QUESTIONS = {
    "T1": by_stage("isolation", "yes: refused, nothing copied"),
    "T2": GUEST,
    "T3": GUEST,
    "T4": by_stage("isolation", "rings at pages that are not the vGPU's led nowhere (outlive)"),
    "T5": preempt_time,
    "T6": GUEST,
    "T7": unless_said("was not taken", ("bring-up", "copies"), "yes: taken at take-down of channels", "no"),
    "T8": by_stage("contexts", "a context of the host's was restored; its registers were not compared"),
    "T9": by_stage("isolation", "copies to unmapped memory ended; look for IOMMU faults in the kernel's log"),
    "T10": memory,
    "T11": "open: wants a guest with Mesa (selftests/model/mesa)",
    "T12": by_stage("isolation", "entries worked and refused as the header says"),
    "T13": "open: look at debugfs sched beside two guests",
    "T14": unless_said("invalidate", ("isolation",), "yes, beside unmaps; beside a flood: wants a hostile guest", "no"),
    "T15": by_stage("isolation", "none for the kinds of this test"),
    "T16": unless_said("graphics engine is not idle", ("contexts", "preempts"), "not seen", "yes: GR stayed in CHSW"),
    "T17": GUEST,
    "T18": GUEST,
    "T19": GUEST,
    "T20": GUEST,
    "T21": "open: look at debugfs sched beside a guest with two channels in a group",
    "T22": busy,
    "T23": GUEST,
    "T24": GUEST,
    "T25": "open: cut the card off during a copy, then modprobe again",
    "T26": "open: ftrace of kvgpu_hw_l2_flush beside a stream",
    "T27": unless_said("IOMMU", ("isolation",), "no fault was seen in this run", "a fault was seen"),
    "T28": copies_moved,
}


def answers(done):
    """done: outcomes by the stage's name."""
    return {t: ask if isinstance(ask, str) else ask(done) for t, ask in QUESTIONS.items()}
