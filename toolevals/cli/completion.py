"""Runs `toolevals completion`: tells bash, zsh and fish how to complete verbs, options and their values.

The shell asks the command itself, which reads the words off its own parsers: nothing to keep in step.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from toolevals.cli.output import Exit, say
from toolevals.cli.verbs import VERBS, Verbs

# Each asks `toolevals completion words -- VERB … WORD`.
SHELLS = {
    "bash": """\
# To load it now: source <(toolevals completion bash). For good: write it to your folder of bash completions.
_toolevals() {
  local word="${COMP_WORDS[COMP_CWORD]}"
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(toolevals completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "$word"))
}
complete -o default -F _toolevals toolevals
""",
    "zsh": """\
#compdef toolevals
# To load it: write it to a file _toolevals in a folder of $fpath, or: source <(toolevals completion zsh)
_toolevals() {
  local -a found
  found=("${(@f)$(toolevals completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -- "${found[@]}"; else _files; fi
}
compdef _toolevals toolevals
""",
    "fish": """\
# To load it: toolevals completion fish > ~/.config/fish/completions/toolevals.fish
complete -c toolevals -a '(toolevals completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
""",
}


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("completion", epilog="bash: source <(toolevals completion bash)")
    parser.add_argument("shell", choices=list(SHELLS), metavar="SHELL", help=f"one of {', '.join(SHELLS)}")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print a shell's script."""
    say(SHELLS[arguments.shell], end="")
    return Exit.OK


def completions(words: Sequence[str], parser_of: Callable[[Sequence[str]], argparse.ArgumentParser]) -> list[str]:
    """Return what the last word may be, after the words before it; nothing where it is a file or free text.

    `parser_of` returns the parser of the verbs that are named.
    """
    *before, word = words or [""]
    verb = next((each for each in before if not each.startswith("-")), "")
    known = parser_of([verb] if verb in VERBS else [])
    used, waiting = _entered(known, before)
    if waiting is not None:
        found = list(map(str, waiting.choices or ()))
    elif word.startswith("-"):
        found = [flag for action in used._actions for flag in action.option_strings]
    else:
        positional = [action for action in used._actions if not action.option_strings]
        found = [str(choice) for action in positional for choice in action.choices or ()]
    return [each for each in found if each.startswith(word)]


def _entered(
    root: argparse.ArgumentParser, words: Sequence[str]
) -> tuple[argparse.ArgumentParser, argparse.Action | None]:
    """Return the parser that the words lead to, and the option that waits for its value, if one does."""
    parser, waiting = root, None
    for word in words:
        if waiting is not None:
            waiting = None
            continue
        option = parser._option_string_actions.get(word)
        waiting = option if option is not None and option.nargs != 0 else None
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction) and word in action.choices:
                parser = action.choices[word]
    return parser, waiting
