"""``acp-proxy completion``: print the script that teaches a shell to complete our arguments."""

import click

from acp_proxy.cli.completion.shells import SHELLS, script


@click.command()
@click.argument("shell", type=click.Choice(sorted(SHELLS)))
def completion(shell: str) -> None:
    """Print the script that makes SHELL complete commands, options, and ids from the log.

    To try it in this shell only (fish: acp-proxy completion fish | source):

    \b
      eval "$(acp-proxy completion bash)"
      eval "$(acp-proxy completion zsh)"

    To keep it:

    \b
      bash  put the line above at the end of ~/.bashrc
      zsh   put the line above into ~/.zshrc, after the line with compinit
      fish  acp-proxy completion fish > ~/.config/fish/completions/acp-proxy.fish

    To undo it, remove that line or file, and open a new shell. Completing only reads
    the log: that of --log on the same line, else the usual one.
    """  # noqa: D301 - click wants a real backspace
    click.echo(script(shell), nl=False)
