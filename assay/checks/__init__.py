"""Checks of kernels and programs: what they are run with, and how findings are reported."""

from ..launches.errors import CheckFindings, CheckInputError
from ..launches.inputs import Inputs, Setup, read_annotations, read_file
from ..reports.kinds import CHECKS, KINDS
from ..reports.machine_formats import report_json, report_junit
from ..reports.report import KernelRecord, Report
from ..reports.sarif import report_sarif
from ..reports.suppressions import Suppression, parse_suppression
from .api import check
from .kernel import check_kernel
from .orders import order_finding
from .programs import checked, checking, chosen_checks
from .source import SourceOptions, check_source, read_source

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
    "order_finding",
    "parse_suppression",
    "read_annotations",
    "read_file",
    "read_source",
    "report_json",
    "report_junit",
    "report_sarif",
]
