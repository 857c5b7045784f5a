"""`assay check-module`: runs every test function of a module, as `iree-check-module` does."""

import typer

from .options import CompileFlags, Device, Json, ModelPath, Parameters


def check_module_command(
    module: ModelPath,
    device: Device = "emulated",
    parameters: Parameters = None,
    compile_flag: CompileFlags = None,
    json: Json = False,
) -> None:
    """x"""
    raise typer.Exit(0)
