"""`assay foundry model`: a language model run token by token, and timed on chips."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from ..failures import USAGE, CommandError
from ..options.shared import Json

if TYPE_CHECKING:
    from ...foundry.model import Llama
    from ...prediction import TimeResult

File = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]",
        help="A .gguf file, or a .safetensors file with config.json beside it; a small model with "
        "random weights if none is given.",
        show_default=False,
    ),
]
Prompt = Annotated[str, typer.Option("--prompt", help="Tokens to begin with, as numbers: 1,2,3.")]
Count = Annotated[int, typer.Option("--tokens", help="How many tokens to make.", min=0, max=10_000)]
Chips = Annotated[
    list[str] | None,
    typer.Option("--chip", help="Time the next token on this chip, too; may be given again."),
]
Weights = Annotated[
    str | None,
    typer.Option("--weights", help="Pack weights into this format first, such as q4_0."),
]
Cache = Annotated[
    str,
    typer.Option("--cache", help="Of keys and values: f32, f16, fp8_e4m3, q8_0, q4_0, mxfp4, ..."),
]
Temperature = Annotated[float, typer.Option("--temperature", help="0 takes the likeliest token.")]
Seed = Annotated[int, typer.Option("--seed", help="Of random weights, and of sampled tokens.")]


def model_command(
    file: File = None,
    prompt: Prompt = "1,2,3",
    tokens: Count = 8,
    chip: Chips = None,
    weights: Weights = None,
    cache: Cache = "f16",
    temperature: Temperature = 0.0,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Run a Llama-like model on the emulated GPU, and time its next token on chips.

    [bold]Examples[/bold]

      assay foundry model --chip m1 --chip m4-max
      assay foundry model llama.gguf --prompt 1,306,626 --tokens 4
    """
    from assay.compiler.foundry.errors import FoundryError
    from assay.hw.facts import SpecError

    from ...foundry.library import Sampling
    from ...foundry.model import Llama, write_seeded
    from ..terminal import print_json, show

    begin = _numbers(prompt)
    with TemporaryDirectory() as folder:
        try:
            sampling = Sampling(temperature=temperature, seed=seed)
            path = file or write_seeded(Path(folder) / "model.gguf", weights="q8_0", seed=seed)
            model = Llama.load(path, weights=weights, cache=cache)
            made = model.generate(begin, tokens, sampling=sampling)
            times = {each: model.time(chip=each) for each in chip or ()}
        except (FoundryError, SpecError) as error:
            raise CommandError(str(error), code=USAGE) from None
    if json:
        seconds = {each: found.seconds for each, found in times.items()}
        print_json({"prompt": begin, "tokens": made, "seconds": seconds})
        return
    show(f"prompt  {' '.join(map(str, begin))}")
    show(f"tokens  {' '.join(map(str, made))}")
    for each, found in times.items():
        show(_line(each, found, model))


def _line(chip: str, found: "TimeResult", model: "Llama") -> str:
    kernels = len(found.dispatches)
    return (
        f"{chip:8}{found.seconds * 1e6:10.1f} us for token {model.position + 1}, "
        f"{1 / found.seconds:.0f} per second, {kernels} kernels"
    )


def _numbers(prompt: str) -> list[int]:
    try:
        found = [int(each) for each in prompt.split(",")]
    except ValueError:
        raise CommandError(f"--prompt {prompt}: expected numbers, as 1,2,3", code=USAGE) from None
    return found
