"""Runs kernels that use no grid positions on this machine's processor, to check their numbers."""

from __future__ import annotations

import ctypes

import llvmlite.binding as llvm
import numpy as np

from assay.compiler.msl import compile_library


def _target() -> llvm.TargetMachine:
    """A fresh one each time: the engine that compiles with it takes it over."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(opt=2, cpu=llvm.get_host_cpu_name())


def optimised(bitcode: bytes) -> llvm.ModuleRef:
    """The module after LLVM's own passes for the host."""
    module = llvm.parse_bitcode(bitcode)
    module.verify()
    builder = llvm.create_pass_builder(_target(), llvm.create_pipeline_tuning_options(2))
    builder.getModulePassManager().run(module, builder)
    return module


class HostKernel:
    """A kernel of pointers alone, callable with NumPy arrays."""

    def __init__(self, source: str, name: str, constants: dict | None = None) -> None:
        function = compile_library(source).function(name, constants)
        module = optimised(function.bitcode)
        self._engine = llvm.create_mcjit_compiler(module, _target())
        self._engine.finalize_object()
        address = self._engine.get_function_address(function.entry)
        self._call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(function.arguments))(address)

    def __call__(self, *arrays: np.ndarray) -> None:
        self._call(*[array.ctypes.data for array in arrays])
