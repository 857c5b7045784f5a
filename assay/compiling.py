"""`assay.compile`: errors of models end in the user's line."""

from assay.compiler import models

from .tracebacks import ends_in_caller

compile_model = ends_in_caller(models.compile_model)
