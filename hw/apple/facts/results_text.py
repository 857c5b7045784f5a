"""The section about published results of docs/reference/apple-gpus.md."""

from __future__ import annotations

from .results import PublishedResult, published_results


def results_section() -> str:
    """The section as Markdown."""
    return "\n".join(
        [
            "## Published results",
            "",
            "What expressions of MSL gave on Apple GPUs, as issues and pull requests of public",
            "projects and kernels that Apple compiled tell; a test runs each. Numbers are bits.",
            "The last column is what Assay gives, where that is something else. In which order",
            "`simd_sum` adds is not here: nobody was found who published it of a device.",
            "",
            "| what | code | fast math | given | published | source | confidence | Assay |",
            "|---|---|---|---|---|---|---|---|",
            *(_row(each) for each in published_results()),
            "",
        ]
    )


def _row(result: PublishedResult) -> str:
    differs = f"{_bits(result.emulated)}: {result.because}" if result.emulated else "same"
    return (
        f"| {result.name.replace('_', ' ')} | `{result.x} x; {result.y} y; {result.code}` "
        f"| {'on' if result.fast_math else 'off'} | {_bits(result.given)} "
        f"| {_bits(result.published)} | {result.source} | {result.confidence} | {differs} |"
    )


def _bits(values: tuple[int, ...]) -> str:
    return ", ".join(hex(each) if each > 0xFF else str(each) for each in values)
