"""Writes docs/reference/traces.md from the declarations.

python -m assay.traces.manual > docs/reference/traces.md
"""

from __future__ import annotations

import textwrap

from .events.kinds import CAUSES, KINDS
from .events.schema import Argument, Form, Group, Kind, Role
from .record import container

_HEAD = """# Traces

This page is generated from the declarations in `traces/`; a test keeps it current. How to look at
traces and to record some: [Timelines](../guides/timelines.md).

A trace is a tree of tracks with events on them. Times are whole ticks of one clock that the trace
declares: cycles of a named clock at so many hertz, nanoseconds or picoseconds.

- A **slice** lasts from a begin for a duration. Slices of a track lie side by side or inside each
  other; those that cross are refused. Only kinds that are declared as overlapping may: their slices
  are put into lanes, and are nobody's children.
- An **instant** happens at one time.
- A **counter** has a value from one time until the next value, in the unit of its track.
- A **flow** leads from one slice to another.

The children of a slice of a tiled kind leave no gap in it. Why time passed is said by the cause of
the innermost slice, or else by that of the nearest slice around it; what states none counts as
busy, what no slice covers as idle. A slice of a kind that stands around others is no link of a
critical path: its time passes in what is in it.
"""

_FORMATS = """## Files

| name | what it is | written | read |
|---|---|---|---|
| `.assay-trace` | our own: small, quick, readable after a crash up to the last events | yes | yes |
| `.pftrace` | Perfetto's own format, for ui.perfetto.dev and its SQL | yes | yes |
| `.json` | Chrome's JSON, for and from tools that know nothing else | yes | yes |
| `.xml` | a table that Instruments exports, such as `metal-gpu-intervals` | no | yes |
| `.gputrace` | a capture of Xcode's, best with a profile | no | yes |
| `.html` | one page with viewer and trace inside, for any browser | yes | yes |

All but `.html` may be packed: `.pftrace.gz` and so on. A reader goes by the first bytes, not by
the name. A file is written under another name first and then takes the place of the old one, so
there is never half a file; but a recording that goes to a file while something runs is written as
it comes.

### Perfetto

Perfetto counts nanoseconds. A tick is written as one nanosecond, and the root track says what that
stands for ("1 ns here is 1 cycle of M4 Max GPU"). The kind of an event is its category, its
arguments and its cause are debug annotations, addresses are pointers. Slices that overlap lie on
one Perfetto track per lane; they have one name, so the UI shows them as one. An arrow whose
destination begins before its source is shown turned round; one into a slice that is over before
the source begins is not shown. What the format has no place for is in the description of the root
track, so that our files read back whole.

Of other people's files track events are read: slices, instants, counters and flows of all tracks.
Other packets are counted and left out. A file that was cut off is read up to its last whole packet.

### Chrome JSON

Times are microseconds with three decimals: a tick is a nanosecond there too. A root track is a
process, what is below it are threads. Of other people's files these phases are read: `X`, `B` and
`E`, `b` and `e`, `i`, `I`, `n` and `R`, `C`, `s`, `t` and `f`, `M`. A file that was cut off is read
up to its last whole event. Events of one category become one kind; threads whose events cross are
put into lanes. What was left out or guessed is reported.

### Instruments

Of a recording on a Mac, `xctrace` exports one table as XML:

```text
xctrace record --template 'Metal System Trace' --output run.trace --launch -- PROGRAM
xctrace export --input run.trace --output gpu.xml --xpath \\
    '/trace-toc/run[@number="1"]/data/table[@schema="metal-gpu-intervals"]'
```

Rows with a start and a duration become slices, other rows with a time instants: below their process
a track for each channel or thread, all other columns as arguments. Intervals whose state is `Idle`
count as idle. No such recording was made for the tests: the shape of these files is known from
parsers that others have published.

### .gputrace

A capture of Xcode's, a folder. Apple documents nothing of it; what
[others found out](https://github.com/tmc/gputrace) is read: dispatches with their kernels,
encoders and grids, and, if Xcode profiled the capture, how long each took
(`*.gpuprofiler_raw/streamData`, whole microseconds). Without a profile dispatches stand in order,
1 us each, and a note says so. Contents of buffers and render encoders are not read. No capture of a
Mac was here: the tests write theirs by that description.
"""


def page() -> str:
    """The whole page as Markdown."""
    return "\n".join((_HEAD, _causes(), _kinds(), _roles(), _FORMATS, _container()))


def _causes() -> str:
    rows = ["## Causes", "", "| cause | counts as | meaning |", "|---|---|---|"]
    rows += [
        f"| `{cause.name}` | {cause.group.value} | {cause.text} |"
        for group in Group
        for cause in CAUSES.values()
        if cause.group is group
    ]
    return "\n".join(rows) + "\n"


def _kinds() -> str:
    parts = ["## Kinds of events", "", "Colours in viewers go by the group."]
    for form, title in (
        (Form.SLICE, "Slices"),
        (Form.INSTANT, "Instants"),
        (Form.COUNTER, "Counters"),
        (Form.FLOW, "Flows"),
    ):
        parts += [
            "",
            f"### {title}",
            "",
            "| kind | group | meaning | arguments |",
            "|---|---|---|---|",
        ]
        parts += [_row(kind) for kind in KINDS.values() if kind.form is form]
    return "\n".join(parts) + "\n"


def _row(kind: Kind) -> str:
    traits = [
        text
        for given, text in (
            (kind.overlapping, "May overlap."),
            (kind.tiled, "Tiled."),
            (kind.caused, "States a cause."),
            (kind.around, "Stands around others."),
        )
        if given
    ]
    meaning = " ".join((kind.text, *traits))
    arguments = "; ".join(_argument(argument) for argument in kind.arguments)
    return f"| `{kind.name}` | {kind.category} | {meaning} | {arguments} |"


def _argument(argument: Argument) -> str:
    unit = argument.unit or ("" if argument.type.value == "integer" else argument.type.value)
    return f"`{argument.name}` {argument.text}" + (f" ({unit})" if unit else "")


def _roles() -> str:
    roles = textwrap.fill(f"The roles: {', '.join(role.value for role in Role)}.", 100)
    return f"""## Tracks

A track has a name, a parent and a role, by which viewers choose its look. Counters have a unit. A
memory map has a capacity in bytes; its slices have `offset` and `bytes`, and viewers may draw them
by address. The path of a track is the names from its root, joined by points:
`gpu.core[0].simdgroup[3]`.

{roles}
"""


def _container() -> str:
    text = (container.__doc__ or "").partition("\n\n")[2].replace("`MAGIC`", f"`{_magic()}`")
    return f"""### .assay-trace

Version {container.VERSION}. {text.strip()}

The columns of slices are track, name, begin, duration, cause, then the arguments; of instants
track, name, time, then the arguments; of counters track, time, value; of flows source and
destination. Tracks, kinds, names and causes are numbered from zero in the order in which they are
defined; a text argument is the number of a name, -1 where it is absent; an absent integer is -2^63,
an absent real number NaN; no cause is -1. Integers have 64 bits, real numbers are IEEE doubles. An
end of a flow is the number of the slice's kind shifted left by 40 bits, plus its row among the
slices of that kind."""


def _magic() -> str:
    return container.MAGIC.hex(" ")


if __name__ == "__main__":
    print(page())
