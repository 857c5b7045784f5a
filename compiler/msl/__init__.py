"""The Metal Shading Language: source in, LLVM bitcode and reflection out."""

from .arguments import Argument, ArgumentBufferMember, StructField
from .errors import CompileError, MissingConstants
from .kernel_function import KernelFunction
from .kernel_library import KernelLibrary
from .library import Library
from .opening import compile_library
from .options import CompileOptions
from .rewrite.function_constants import ConstantValue, FunctionConstant

__all__ = [
    "Argument",
    "ArgumentBufferMember",
    "CompileError",
    "CompileOptions",
    "ConstantValue",
    "FunctionConstant",
    "KernelFunction",
    "KernelLibrary",
    "Library",
    "MissingConstants",
    "StructField",
    "compile_library",
]
