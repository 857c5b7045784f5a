"""Checks of kernels and programs: what they are run with, and how findings are reported."""

from typing import TYPE_CHECKING

from ..lazy import lazy_exports

if TYPE_CHECKING:
    from ..launches.inputs import Setup
    from ..launches.source import read_source
    from ..reports.errors import CheckFindings
    from ..reports.kinds import CHECKS, KINDS
    from ..reports.machine_formats import report_json, report_junit
    from ..reports.report import KernelRecord, Report
    from ..reports.sarif import report_sarif
    from ..reports.suppressions import Suppression, parse_suppression
    from .api import check
    from .errors import CheckInputError
    from .inputs import Inputs, read_annotations, read_file
    from .kernel import check_kernel
    from .orders import compare_orders, order_finding
    from .programs import checked, checking, chosen_checks
    from .source import SourceOptions, check_source

__all__ = [
    "CHECKS",
    "KINDS",
    "CheckFindings",
    "CheckInputError",
    "Inputs",
    "KernelRecord",
    "Report",
    "Setup",
    "SourceOptions",
    "Suppression",
    "check",
    "check_kernel",
    "check_source",
    "checked",
    "checking",
    "chosen_checks",
    "compare_orders",
    "order_finding",
    "parse_suppression",
    "read_annotations",
    "read_file",
    "read_source",
    "report_json",
    "report_junit",
    "report_sarif",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "CHECKS": "..reports.kinds",
        "CheckFindings": "..reports.errors",
        "CheckInputError": ".errors",
        "Inputs": ".inputs",
        "KINDS": "..reports.kinds",
        "KernelRecord": "..reports.report",
        "Report": "..reports.report",
        "Setup": "..launches.inputs",
        "SourceOptions": ".source",
        "Suppression": "..reports.suppressions",
        "check": ".api",
        "check_kernel": ".kernel",
        "check_source": ".source",
        "checked": ".programs",
        "checking": ".programs",
        "chosen_checks": ".programs",
        "compare_orders": ".orders",
        "order_finding": ".orders",
        "parse_suppression": "..reports.suppressions",
        "read_annotations": ".inputs",
        "read_file": ".inputs",
        "read_source": "..launches.source",
        "report_json": "..reports.machine_formats",
        "report_junit": "..reports.machine_formats",
        "report_sarif": "..reports.sarif",
    },
)
