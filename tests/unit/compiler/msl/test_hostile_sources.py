import time

import pytest

from assay.compiler.msl import CompileError, CompileOptions, clang, compile_library


def refusal(source: str, **options: object) -> str:
    with pytest.raises(CompileError) as caught:
        library = compile_library(source, options=CompileOptions(**options))
        library.function(library.function_names[0])
    return str(caught.value)


SECRET = "the-secret-line 'of a file"


@pytest.mark.parametrize(
    "directive",
    ['#include "{path}"', "#include <{path}>", '#define P "{path}"\n#include P', '#import "{path}"',
     '#include_next "{path}"', '%:include "{path}"', '#inc\\\nlude "{path}"', '??=include '
                                                                              '"{path}"'],
)  # fmt: skip
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
    assert "outside the include paths" in text


def test_inline_assembly_is_refused() -> None:
    assert "assembly" in refusal('kernel void k() { __asm__(".incbin \\"/etc/hostname\\""); }')


@pytest.mark.parametrize(
    "source",
    [
        "template <int N> struct A { A<N + 1> a; };\nkernel void k(device int* x) { A<0> a; }",
        "constexpr int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nconstant int "
        "x[f(40)] = {};\nkernel void k() {}",
        "kernel void k() {" + "{" * 5000 + "}" * 5001,
        "kernel void k(device int* x) { x[0] = " + "(" * 5000 + "1" + ")" * 5000 + "; }",
        "#define A(x) x x x x x x x x x x\nint a = A(A(A(A(A(A(A(A(1))))))));\nkernel void k() {}",
        "\0kernel\0 void", "kernel void k(", "]]]]", "[[[[[[", "<<<<", '"', "'", "#", "#if\n",
        "\\", "kernel",
        "template", "template <", "template <typename T> kernel", "struct", "struct {", "}",
        "operator",
        "kernel void",
        "kernel void k(device int* x [[buffer(99999999999999999999)]]) {}",
        "constant int x [[function_constant()]]; kernel void k() {}", "[[kernel]]", "namespace",
        "enum", "using",
        "struct S { S(", "template [[host_name(\"a\")]] kernel void f<int>();",
        "is_function_constant_defined",
    ],
)  # fmt: skip
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
