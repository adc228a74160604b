"""Commands that bring the tasks to the host: register, unregister, run, path."""

from __future__ import annotations

import shutil

import click

import cruxeval_tasks


@click.command()
def path() -> None:
    """Print the folder with the task definitions.

    \b
    For the host's own command:
      lm_eval --include_path "$(cruxeval path)" --tasks cruxeval_o ...
    """
    click.echo(cruxeval_tasks.TASK_CONFIGS)


@click.command()
def register() -> None:
    """Make the installed host find the tasks, so that plain `lm_eval --tasks cruxeval_o` works.

    Puts a folder of its own, with one small file for each task, into the host's tasks folder. Changes nothing
    else there. Run it again after an upgrade of the host or of this package; it says what was to be done.
    """
    from cruxeval_tasks import registration

    done = registration.register()
    before = done.before
    if before.state is registration.State.CURRENT:
        click.echo(f"Already registered with lm-eval {before.host.version}, and up to date: {before.folder}")
        return
    verb = "Refreshed the registration" if before.state is registration.State.STALE else "Registered"
    click.echo(f"{verb} with lm-eval {before.host.version}: {before.folder}")
    for reason in before.reasons:
        click.echo(f"  {reason}")
    names = f"Tasks and groups: {', '.join(done.names)}"
    columns = shutil.get_terminal_size().columns
    click.echo(click.wrap_text(names, columns, initial_indent="  ", subsequent_indent="    "))
    click.echo("The host finds them from now on: lm_eval --tasks cruxeval ...")


@click.command()
def unregister() -> None:
    """Remove from the host exactly what `cruxeval register` put there.

    Files of others in that folder stay, and so does the folder then.
    """
    from cruxeval_tasks import registration

    done = registration.unregister()
    folder = done.before.folder
    if not done.removed:
        click.echo("Nothing to remove: not registered with the installed host.")
        for reason in done.before.reasons:
            click.echo(f"  Left alone: {reason}")
        return
    if done.kept:
        click.echo(f"Unregistered: removed {len(done.removed)} files from {folder}")
        click.echo(f"  Left in place, since `cruxeval register` did not make it: {', '.join(done.kept)}")
        return
    click.echo(f"Unregistered: removed {folder}")


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    options_metavar="",
    short_help="Run the host's command with the tasks known to it, registered or not.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[HOST ARGUMENTS]...")
def run(arguments: tuple[str, ...]) -> None:
    """Run the host's command (`lm_eval`) with the tasks known to it, registered or not.

    Everything is passed on as it stands, `--include_path` for tasks of your own too. The exit status is the
    host's.

    \b
      cruxeval run --model hf --model_args pretrained=... --tasks cruxeval_o
      cruxeval run ls tasks
      cruxeval run validate --tasks cruxeval
      cruxeval run run --help     the host's options
    """
    from cruxeval_tasks import registration
    from cruxeval_tasks.host import run_host

    status = registration.registration_status()
    registration.refuse_old(status.host)
    if status.state is registration.State.STALE:
        click.echo("Note: the registration with the host is out of date; run `cruxeval register`.", err=True)
        for reason in status.reasons:
            click.echo(f"  {reason}", err=True)
    run_host(arguments, include=status.state is not registration.State.CURRENT)
