"""Parameters of the methods as options of a command, from their signatures and docstrings."""

from __future__ import annotations

from typing import Any

import click

from .._figures import unmarked
from ._options import literal

_NOT_FOR_STREAMS = {  # the stream determines passes and order
    *("max_iter", "n_steps", "tol", "early_stopping", "n_iter_no_change", "warm_start", "shuffle", "n_jobs"),
}
_BY_COMMAND = ("max_iter", "batch_size")  # options of commands that are parameters of some methods


class MethodCommand(click.Command):
    """A command whose options include the parameters of the method that ``--method`` names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        usual = next(p.default for p in self.params if "--method" in p.opts)
        name = _value_of("--method", args) or (usual if isinstance(usual, str) else None)
        if name is not None:
            method = find_method(name)
            self.params = [p for p in self.params if not isinstance(p, _MethodOption)]
            taken = {option for p in self.params for option in p.opts}
            self.params += [option for option in method_options(method) if not taken & set(option.opts)]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as problem:
            if name is None:
                raise
            lists = f"`thresher methods {name}` lists the parameters of {name}"
            likely = [option for option in problem.possibilities or () if option != "--help"]
            raise click.NoSuchOption(
                problem.option_name, f"No such option {problem.option_name!r}; {lists}.", likely, ctx
            ) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = [p for p in self.params if isinstance(p, _MethodOption)]
        others = [p for p in self.get_params(ctx) if isinstance(p, click.Option) and p not in own]
        with formatter.section("Options"):
            formatter.write_dl([record for p in others if (record := p.get_help_record(ctx))])
        with formatter.section("Parameters of the method"):
            if own:
                formatter.write_dl([record for p in own if (record := p.get_help_record(ctx))])
            else:
                formatter.write_text("name it with --method to see them here; `thresher methods` lists all methods")


class _MethodOption(click.Option):
    """A parameter of an estimator."""


def own_options() -> dict[str, str]:
    """The options of the command in progress, less those of its method, by the names that the library has for them."""
    params = click.get_current_context().command.params
    own = [p for p in params if isinstance(p, click.Option) and not isinstance(p, _MethodOption)]
    names = {str(p.name): p.opts[0] for p in own if "_" in str(p.name)}
    return names | {p.opts[0].removeprefix("--").replace("-", "_"): p.opts[0] for p in own}


def find_method(name: str) -> Any:
    """The method of that name; a wrong name is refused with a list of the right ones."""
    from .. import registry

    method = registry.find(name)
    if method is None:
        close, names = registry.similar(name), ", ".join(sorted(registry.estimators()))
        similar = f"; similar names: {', '.join(close)}" if close else ""
        raise click.UsageError(f"there is no method {name[:80]!r}{similar}; the methods are {names}.")
    return method


def method_options(method: Any) -> list[click.Option]:
    """Click options for the declared parameters, with the words of their documentation."""
    options: list[click.Option] = []
    for name, declared in method.cls._params.items():
        if name == "random_state" or (_learns_by_stream(method) and name in _NOT_FOR_STREAMS):
            continue
        flag, metavar = "--" + name.replace("_", "-"), None
        if isinstance(declared.default, bool):
            flag += f"/--no-{flag.removeprefix('--')}"
        else:
            choices = declared.rule.options if isinstance(declared.default, str) else ()
            metavar = "|".join(choices) or "VALUE"
        first = unmarked(declared.doc).partition(". ")[0].rstrip(".")
        described = f"{first}. [default: {declared.default}]".removeprefix(". ")
        options.append(_MethodOption([f"param_{name}", flag], default=None, help=described, metavar=metavar))
    return options


def _learns_by_stream(method: Any) -> bool:
    return bool(method.streams and method.task != "clustering")  # clusters in memory take steps of their own


def method_params(given: dict[str, Any], method: Any, seen: Any = None) -> dict[str, Any]:
    """Constructor arguments from the options, each held against its rule. Labels are words where those of the file
    are, as it was `seen`: "none" is one, then."""
    params = {}
    for name in method.cls._params:
        value = given.get(f"param_{name}")
        if name in _BY_COMMAND and not (_learns_by_stream(method) and name in _NOT_FOR_STREAMS):
            value = given.get(name) if value is None else value
        if value is None:
            continue
        rule = method.cls._param_rules[name]
        is_word = value in rule.options or (name.endswith("_label") and seen is not None and seen.is_text)
        params[name] = literal(value) if isinstance(value, str) and not is_word else value
        check_param(f"--{name.replace('_', '-')}", rule, params[name])
    return params


def check_param(name: str, rule: Any, value: Any) -> None:
    """Refuse a value that breaks its rule."""
    if rule is not None and not rule.holds(value):
        raise click.UsageError(f"{name} must be {rule.says}, got {value!r}.")


def _value_of(option: str, args: list[str]) -> str | None:
    for i, arg in enumerate(args):
        if arg == option and i + 1 < len(args):
            return args[i + 1]
        if arg.startswith(option + "="):
            return arg[len(option) + 1 :]
    return None
