"""Checks of kernels and programs: what they are run with, and how findings are reported."""

from .errors import CheckFindings, CheckInputError
from .inputs import Inputs, Setup, read_annotations, read_file
from .kernel import check_kernel
from .kinds import CHECKS, KINDS
from .machine_formats import report_json, report_junit
from .orders import order_finding
from .programs import checked, checking, chosen_checks
from .report import KernelRecord, Report
from .sarif import report_sarif
from .source import SourceOptions, check_source, read_source
from .suppressions import Suppression, parse_suppression

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
