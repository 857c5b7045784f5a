"""A module of AIR as the engine's importer takes it: address spaces, promises and metadata.

Apple's front end promises LLVM what the language does not define or a host may break: that buffers
do not overlap, that pointers are not null, that loops end. Here nothing is undefined, so that all
promises go. What is kept is arithmetic as it stands, with fusion where the program asked for it.
"""

from __future__ import annotations

import re

from ..msl.front.clang import TARGET_CPU

_HEAD = re.compile(r"^(?:target (?:datalayout|triple) = .*|source_filename = .*)\n", re.MULTILINE)
# Apple's sizes and alignments are those of what clang makes of our own functions, which are linked
# to the module: see `compiler/msl/front/clang.py`. Without a layout LLVM aligns 64 bits to 4 bytes.
_LAYOUT = (
    'target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-'
    'n8:16:32:64-S128"\n'
)
_LISTS = re.compile(
    r"^@llvm\.(?:compiler\.used|used) = .*\n|^@llvm\.global_ctors = .*\[0 x .*\n", re.MULTILINE
)
_EXTERNAL = re.compile(r' section "air\.externally_defined"')
_SPACE = re.compile(r"addrspace\(2\)")
_PROMISES = re.compile(
    r" (?:nonnull|noundef|noalias|dereferenceable(?:_or_null)?\(\d+\)"
    r'|"air-buffer-no-alias")(?=[ ,)])'
)
_METADATA = re.compile(
    r", !(?:tbaa|alias\.scope|noalias|range|noundef|nonnull|align|dereferenceable|srcloc"
    r"|prof|invariant\.load|nontemporal|llvm\.access\.group) ![0-9]+"
)
_FAST = re.compile(
    r"(?<= )(fadd|fsub|fmul|fdiv|frem|fneg|fcmp|select|phi|fptrunc|fpext|(?:tail |notail )?call)"
    r"((?: (?:fast|nnan|ninf|nsz|arcp|afn|reassoc|contract))+)(?= )"
)
_GROUPS = re.compile(r"^attributes #\d+ = \{.*\}$", re.MULTILINE)
_GROUP_WORDS = re.compile(
    r'(?:mustprogress|willreturn|"(?:target-features|target-cpu|tune-cpu)"="[^"]*"'
    r'|"(?:no-nans|no-infs|no-signed-zeros|unsafe|approx-func)[\w-]*"="\w+"'
    r'|"min-legal-vector-width"="\d+"|"frame-pointer"="\w+"|"stack-protector-buffer-size"="\d+") ?'
)
CPU = f'"target-cpu"="{TARGET_CPU}"'
_NAMED = re.compile(
    r"^!(?:air\.|llvm\.ident|llvm\.module\.flags|llvm\.linker)[\w.]* = .*\n", re.MULTILINE
)
# Loops may run forever; what else is said of them, as that they are to be unrolled, is kept.
_PROGRESS = '!{!"llvm.loop.mustprogress"}'
_ASSUME = re.compile(r"^  (?:tail )?call void @llvm\.assume\(.*\n", re.MULTILINE)
_DEBUG = re.compile(r"^!llvm\.dbg\.cu = ", re.MULTILINE)


def cleaned(text: str) -> str:
    """The module's text, which nothing about its own machine is left in."""
    text = _NAMED.sub("", _LISTS.sub("", _HEAD.sub("", text)))
    text = _ASSUME.sub("", _SPACE.sub("addrspace(6)", text))
    text = _METADATA.sub("", _PROMISES.sub("", text))
    text = _EXTERNAL.sub("", text)
    text = _FAST.sub(_without_licences, text)
    text = _GROUPS.sub(_for_our_machine, text)
    text = text.replace(_PROGRESS, '!{!"llvm.loop.may_run_forever"}')
    return _LAYOUT + text.replace("@llvm.fmuladd.", "@llvm.fma.")


def has_places(text: str) -> bool:
    """Whether a module says where in its source its instructions stand."""
    return _DEBUG.search(text) is not None


def _for_our_machine(group: re.Match[str]) -> str:
    """Attributes of a function as clang gives them to ours, so that LLVM weighs both alike."""
    words = _GROUP_WORDS.sub("", group[0]).removesuffix("}").rstrip()
    return f"{words} {CPU} }}"


def _without_licences(found: re.Match[str]) -> str:
    return found[1] + (" contract" if "contract" in found[2] or " fast" in found[2] else "")
