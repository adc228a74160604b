"""The command `cruxeval doctor`."""

from __future__ import annotations

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of a table.")
def doctor(as_json: bool) -> None:
    """Say whether answers can be judged on this machine, and what is missing.

    Tries each layer of isolation, then judges, then attempts what an answer must not be able to do.
    Ends with status 1 where answers that need execution cannot be judged in isolation.
    """
    import json

    from rich.console import Console
    from rich.table import Table

    from cruxeval_tasks.judging.doctor import examine

    findings = examine()
    missing = [finding for finding in findings if finding.ok is False]
    if as_json:
        body = [{"name": f.name, "ok": f.ok, "detail": f.detail} for f in findings]
        click.echo(json.dumps({"judges": not missing, "findings": body}, indent=2))
    else:
        table = Table(box=None, show_header=False, pad_edge=False)
        marks = {True: "[green]ok[/]", False: "[red]no[/]", None: ""}
        for finding in findings:
            table.add_row(marks[finding.ok], finding.name, finding.detail)
        console = Console()
        console.print(table)
        if missing:
            console.print(
                "\nAnswers that need execution cannot be judged in isolation here. Output predictions that are "
                "literals still can: nothing is executed for them.",
            )
        else:
            console.print("\nAnswers can be judged here, isolated.")
    raise SystemExit(1 if missing else 0)
