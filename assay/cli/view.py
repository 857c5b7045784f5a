"""`assay view`: a trace on the screen, in our own viewer or in Perfetto's."""

import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from .failures import USAGE, CommandError
from .options.trace import TraceFiles, open_traces


def view_command(
    files: TraceFiles,
    perfetto: Annotated[
        bool,
        typer.Option(
            "--perfetto", help="Serve the Perfetto UI on this machine, until Ctrl-C. Offline."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where the .html goes; a temporary file if not given."),
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Start no browser; print where to find it.")
    ] = False,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="For --perfetto; 0 takes a free one.")
    ] = 0,
) -> None:
    """Show a trace in the browser, or several one above the other.

    Writes one .html file that holds viewer and trace, needs no network and can be mailed. With
    --perfetto the trace is shown by Perfetto's own UI instead.

    [bold]Examples[/bold]

      assay view run.pftrace

      assay view run.pftrace -o run.html --no-open

      assay view before.html after.html

      assay view predicted.pftrace recording.json

      assay view run.pftrace --perfetto
    """
    if perfetto:
        if output is not None:
            raise CommandError("--output: --perfetto writes no file", code=USAGE)
        _serve(files, port, no_open)
        return
    path = _page(files, output)
    typer.echo(path)
    if not no_open and not webbrowser.open(path.resolve().as_uri()):
        from .terminal import note

        note(f"no browser could be started; open {path} in one")


def _page(files: list[Path], output: Path | None) -> Path:
    """The page of a trace; a file that is a page already is shown as it is."""
    from assay.traces.files import check_suffix, write_trace

    if output is None and len(files) == 1 and files[0].suffix == ".html" and files[0].is_file():
        _check_page(files[0])
        return files[0]
    if output is not None and check_suffix(output) != ".html":
        raise CommandError(f"--output {output}: expected a name that ends in .html", code=USAGE)
    trace = open_traces(files)
    if output is None:
        folder = Path(tempfile.mkdtemp(prefix="assay-view-"))
        output = folder / f"{files[0].name.removesuffix('.gz').rsplit('.', 1)[0]}.html"
    write_trace(trace, output)
    return output


def _check_page(file: Path) -> None:
    """Refuses a page that is not one of ours, or the beginning of one."""
    from assay.traces.viewer.html_write import is_page

    if not is_page(file.read_bytes()):
        raise CommandError(f"{file}: is no page that shows a trace, or only a part of one")


def _serve(files: list[Path], port: int, no_open: bool) -> None:
    import io

    from assay.traces.formats.perfetto.write import write_perfetto
    from assay.traces.viewer.perfetto_serve import PerfettoServer, perfetto_folder

    folder = perfetto_folder()
    stream = io.BytesIO()
    # Read and written again, whatever the format: faults of a file are reported here.
    write_perfetto(open_traces(files), stream)
    try:
        server = PerfettoServer(stream.getvalue(), port=port, folder=folder)
    except OSError as error:
        raise CommandError(f"--port {port}: cannot be used ({error.strerror})") from None
    with server:
        typer.echo(f"{server.url} shows {', '.join(map(str, files))} until Ctrl-C")
        if not no_open:
            webbrowser.open(server.url)
        server.serve_forever()
