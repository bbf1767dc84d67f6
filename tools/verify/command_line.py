# SPDX-License-Identifier: GPL-2.0-only
"""Command lines of kvgpu-verify and kvgpu-card: what is wrong is said in one line, with the right word that is nearest."""
import argparse
import difflib
import re

VERSION = "0.4"  # that of kvgpu.mk


def wrong_word(kind, word, words):
    near = difflib.get_close_matches(word, words, 1)
    return f'there is no {kind} "{word}"' + (f'; the nearest is "{near[0]}"' if near else "")


def one_of(kind, words):
    """For add_argument(type=): takes one of these words."""
    def take(word):
        if word not in words:
            raise argparse.ArgumentTypeError(wrong_word(kind, word, words))
        return word
    return take


class Parser(argparse.ArgumentParser):
    def __init__(self, **more):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **more)
        self.add_argument("--version", action="version", version=f"{self.prog} {VERSION}")

    def parse_args(self, args=None, namespace=None):
        parsed, more = self.parse_known_args(args, namespace)
        for word in more:
            options = re.findall(r"--[a-z-]+", self.format_help())
            self.error(wrong_word("option", word.partition("=")[0], options) if word.startswith("-") else f'one word too many: "{word}"')
        return parsed

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}; {self.prog} --help lists what there is\n")
