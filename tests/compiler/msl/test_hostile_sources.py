import contextlib
import sys
import tempfile
import time

import pytest

from assay.compiler.msl import CompileError, CompileOptions, compile_library
from assay.compiler.msl.front import clang


def refusal(source: str, **options: object) -> str:
    with pytest.raises(CompileError) as caught:
        library = compile_library(source, options=CompileOptions(**options))
        library.function(library.function_names[0])
    return str(caught.value)


SECRET = "the-secret-line 'of a file"


@pytest.mark.parametrize(
    "directive",
    [
        '#include "{path}"',
        "#include <{path}>",
        '#define P "{path}"\n#include P',
        '#import "{path}"',
        '#include_next "{path}"',
        '%:include "{path}"',
        '#inc\\\nlude "{path}"',
        '??=include "{path}"',
    ],
)
def test_files_outside_the_include_paths_do_not_leak(tmp_path, directive: str) -> None:
    path = tmp_path / "secret.h"
    path.write_text(f"{SECRET}\n#error {SECRET}\n")
    text = refusal(directive.format(path=path) + "\nkernel void k() {}")
    assert "secret-line" not in text
    assert "program_source.metal" in text


@pytest.mark.parametrize(
    "directive", ["#embed", "#  embed", "%:embed", "#/* */embed", "#em\\\nbed"]
)
def test_bytes_of_files_are_not_embedded(tmp_path, directive: str) -> None:
    path = tmp_path / "secret"
    path.write_text(SECRET)
    assert "#embed is not part of MSL" in refusal(
        f'constant uchar a[] = {{\n{directive} "{path}"\n}};\nkernel void k() {{}}'
    )


@pytest.mark.parametrize("directive", ['#line 1 "{path}"', '# 1 "{path}"', '# 1 "{path}" 1'])
def test_files_that_a_line_directive_names_are_not_quoted(tmp_path, directive: str) -> None:
    path = tmp_path / "secret"
    path.write_text(f"{SECRET}\n" * 5)
    text = refusal(directive.format(path=path) + "\nkernel void k() {\n nonsense;\n}\n")
    assert "secret-line" not in text


def test_parent_folders_of_an_include_path_are_outside_it(tmp_path) -> None:
    (tmp_path / "secret.h").write_text("int secret;\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    text = refusal('#include "../secret.h"\nkernel void k() {}', include_paths=(inner,))
    assert "'../secret.h' file not found: give its folder with -I DIR" in text


@pytest.mark.parametrize(
    ("name", "folder"),
    [("a.h", "its folder"), ("./a.h", "its folder"), ("lib/in/a.h", "the folder that holds 'lib'")],
)
def test_a_header_that_is_missing_comes_with_the_folder_to_give(name: str, folder: str) -> None:
    text = refusal(f'#include "{name}"\nkernel void k() {{}}')
    assert f"'{name}' file not found: give {folder} with -I DIR" in text


def test_a_link_out_of_an_include_path_is_not_followed(tmp_path) -> None:
    (tmp_path / "secret.h").write_text("constant int SECRET = 1;\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link.h").symlink_to(tmp_path / "secret.h")
    text = refusal('#include "link.h"\nkernel void k() {}', include_paths=(inner,))
    assert "program_source.metal:1:1: error:" in text
    assert "outside the include paths" in text


@pytest.mark.parametrize(
    ("test", "known"),
    [
        ('__has_include("{path}")', False),
        ("__has_include(P)", False),
        ('__has_embed("{path}")', False),
        ("__has_include(<metal_stdlib>)", True),
    ],
)
def test_programs_cannot_ask_which_files_there_are(tmp_path, test: str, known: bool) -> None:
    path = tmp_path / "secret"
    path.write_text(SECRET)
    asked = test.format(path=path)
    source = f'#define P "{path}"\n#if {asked}\nkernel void yes() {{}}\n#endif\n'
    library = compile_library(source + "kernel void k() {}")
    assert ("yes" in library.function_names) is known


@pytest.mark.parametrize(
    "line",
    [
        '#define H #\nH include "{path}"',
        '#define E\nE # include "{path}"',
        '#define E\nE %:include "{path}"',
        '#define H #\nH embed "{path}"',
        '_Pragma("GCC dependency \\"{path}\\"")',
        '#pragma GCC dependency "{path}"',
        '#pragma include_alias("metal_stdlib", "{path}")\n#include "metal_stdlib"',
        '#pragma clang module load "{path}"',
        "#pragma clang __debug crash",
        "#pragma clang __debug llvm_fatal_error",
    ],
)
def test_directives_that_are_made_up_read_nothing(tmp_path, line: str) -> None:
    path = tmp_path / "secret.h"
    path.write_text(f"constant int SECRET = 1;\n#error {SECRET}\n")
    source = f"{line.format(path=path)}\nkernel void k(device int* a) {{ *a = SECRET; }}"
    assert "secret-line" not in refusal(source)


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("thread_local int t; kernel void k(device int* a) { *a = t; }", "thread_local"),
        (
            "int f(int n, ...) { __builtin_va_list v; return n; } kernel void k(device int* a) "
            "{ *a = f(1, 2); }",
            "__builtin_va_list",
        ),
        ("kernel void k(device int* a) { throw 1; }", "throw"),
        ("struct B { virtual int f(); }; kernel void k(device int* a) {}", "virtual"),
        ("kernel void k(device int* a) { __builtin_trap(); }", "__builtin_trap"),
        ("kernel void k(device int* a) { __builtin_ia32_pause(); }", "__builtin_ia32_pause"),
        (
            'kernel void k(device int* a) { *a = __builtin_cpu_supports("avx"); }',
            "__builtin_cpu_supports",
        ),
        (
            "kernel void k(device int* a) { int* p = (int*)__builtin_alloca(*a); }",
            "__builtin_alloca",
        ),
        (
            "kernel void k(device ulong* a) { *a = (ulong)__builtin_return_address(0); }",
            "__builtin_return_address",
        ),
        (
            "kernel void k(device ulong* a) { *a = __builtin_readcyclecounter(); }",
            "__builtin_readcyclecounter",
        ),
        ("__attribute__((constructor)) void f() {} kernel void k() {}", "constructor"),
        ("__attribute__((__constructor__)) void f() {} kernel void k() {}", "__constructor__"),
        ("[[gnu::constructor]] void f() {} kernel void k() {}", "constructor"),
        (
            '__attribute__((section(".init_array"))) constant long s = 5; kernel void k() {}',
            "section",
        ),
        ("kernel void k(device int* a) { void* t[] = {&&x}; goto *t[0]; x: *a = 1; }", "goto *"),
        ('kernel void k(device int* a) { asm volatile("nop"); }', "asm"),
    ],
)
def test_what_reaches_for_the_host_is_refused_at_its_line(code: str, word: str) -> None:
    text = refusal(f"\n\n{code}")
    assert text.startswith("program_source.metal:3:")
    assert f"'{word}'" in text


def test_words_of_attributes_are_names_elsewhere() -> None:
    library = compile_library(
        "kernel void k(device int* alias) { int section = 3; *alias = section; }"
    )
    assert library.function("k").name == "k"


def test_inline_assembly_is_refused() -> None:
    assert "assembly" in refusal('kernel void k() { __asm__(".incbin \\"/etc/hostname\\""); }')


@pytest.mark.parametrize(
    "source",
    [
        "template <int N> struct A { A<N + 1> a; };\nkernel void k(device int* x) { A<0> a; }",
        "constexpr int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nconstant int "
        "x[f(40)] = {};\nkernel void k() {}",
        "kernel void k() {" + "{" * 1500 + "}" * 1501,
        "kernel void k(device int* x) { x[0] = " + "(" * 1500 + "1" + ")" * 1500 + "; }",
        pytest.param(
            "kernel void k() {" + "{" * 5000 + "}" * 5001, id="braces", marks=pytest.mark.slow
        ),
        pytest.param(
            "kernel void k(device int* x) { x[0] = " + "(" * 5000 + "1" + ")" * 5000 + "; }",
            id="parentheses",
            marks=pytest.mark.slow,
        ),
        "#define A(x) x x x x x x x x x x\nint a = A(A(A(A(A(A(A(A(1))))))));\nkernel void k() {}",
        "\0kernel\0 void",
        "kernel void k(",
        "]]]]",
        "[[[[[[",
        "<<<<",
        '"',
        "'",
        "#",
        "#if\n",
        "\\",
        "kernel",
        "template",
        "template <",
        "template <typename T> kernel",
        "struct",
        "struct {",
        "}",
        "operator",
        "kernel void",
        "kernel void k(device int* x [[buffer(99999999999999999999)]]) {}",
        "constant int x [[function_constant()]]; kernel void k() {}",
        "[[kernel]]",
        "namespace",
        "enum",
        "using",
        "struct S { S(",
        'template [[host_name("a")]] kernel void f<int>();',
        "is_function_constant_defined",
    ],
)
def test_malformed_and_bombing_sources_end_in_a_compile_error(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clang, "_SECONDS", 4.0)
    started = time.monotonic()
    try:
        library = compile_library("#include <metal_stdlib>\nusing namespace metal;\n" + source)
        for name in library.function_names:
            library.function(name)
    except CompileError as error:
        assert str(error)
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    "source",
    [
        "kernel void k(device int* a) { *a = 1; }",
        "kernel void k() { nonsense; }",
        "#error stop",
        "#pragma clang __debug crash",
        "template <int N, int M> struct F { static constexpr int v = F<N - 1, M * 2>::v + "
        "F<N - 1, M * 2 + 1>::v; };\ntemplate <int M> struct F<0, M> { static "
        "constexpr int v = 1; };"
        "\nkernel void k(device int* a) { *a = F<30, 1>::v; }",
    ],
)
def test_no_temporary_files_are_left(
    source: str, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clang, "_SECONDS", 2.0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with contextlib.suppress(CompileError):
        compile_library(f"// {tmp_path}\n{source}").function("k")
    assert list(tmp_path.iterdir()) == []


def test_a_source_of_too_many_tokens_is_refused_before_it_is_read() -> None:
    table = ", ".join(str(number) for number in range(250_000))
    with pytest.raises(CompileError, match=r"has 500\d\d\d tokens .* the limit is 500000"):
        compile_library(f"constant int table[] = {{ {table} }};", file_name="table.metal")


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (139, "nested too deeply: split it up"),
        (-11, "nested too deeply: split it up"),
        (152, "was stopped after 15 s"),
        (134, "under its limits of 1536 MiB of memory and 64 MiB of output"),
    ],
)
def test_what_ended_the_compiler_is_told(status: int, told: str) -> None:
    with pytest.raises(CompileError, match=told):
        clang._require_end(status, "")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the clock alone limits it")
def test_templates_without_end_are_stopped_by_the_time_that_they_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clang, "_CPU_SECONDS", 1)
    templates = """template <int N, int M> struct F {
    static int of() { return F<N - 1, M * 2>::of() + F<N - 1, M * 2 + 1>::of(); } };
template <int M> struct F<0, M> { static int of() { return M; } };
kernel void k(device int* a) { *a = F<24, 0>::of(); }"""
    with pytest.raises(CompileError, match="was stopped after 1 s; the program is too much"):
        compile_library(templates)


def test_a_line_that_is_shown_commands_no_terminal() -> None:
    told = refusal("#include <metal_stdlib>\nkernel void k() { /* \x1b[2J\u202e */ unknown(); }\n")
    _, line, _ = told.split("\n")
    assert line == "kernel void k() { /* \ufffd[2J\ufffd */ unknown(); }"
