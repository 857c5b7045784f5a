"""Options that belong together: fields of a dataclass, which commands take as one parameter."""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints

from typer.models import OptionInfo


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command for Typer, with each group among its parameters spread out into its options."""
    hints = get_type_hints(command, include_extras=True)
    parameters: list[Parameter] = []
    groups: dict[str, type[Any]] = {}
    for parameter in signature(command).parameters.values():
        hint = hints[parameter.name]
        if isinstance(hint, type) and is_dataclass(hint):
            groups[parameter.name] = hint
            parameters += _options(hint)
        else:
            parameters.append(
                parameter.replace(annotation=hint, kind=Parameter.POSITIONAL_OR_KEYWORD)
            )

    @wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **made)

    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def given_options(*groups: Any) -> list[str]:
    """How options are spelled that were given and mean something, such as `--grid`."""
    return [
        _spelling(annotation)
        for group in groups
        for name, annotation in get_type_hints(type(group), include_extras=True).items()
        if getattr(group, name)
    ]


def _options(group: type[Any]) -> Iterator[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        assert field.default is not MISSING, f"option {field.name} needs a default"
        yield Parameter(
            field.name,
            Parameter.POSITIONAL_OR_KEYWORD,
            default=field.default,
            annotation=hints[field.name],
        )


def _spelling(annotation: Any) -> str:
    option = next(each for each in annotation.__metadata__ if isinstance(each, OptionInfo))
    # Inside of Annotated the first name takes the place of the default.
    names = (option.default, *(option.param_decls or ()))
    return next(name for name in names if isinstance(name, str) and name.startswith("-"))
