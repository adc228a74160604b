"""The command `cruxeval doctor`."""

from __future__ import annotations

import click

from cruxeval_tasks.cli import common


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of a table.")
def doctor(as_json: bool) -> None:
    """Say whether answers can be judged on this machine, and what is missing.

    Tries each layer of isolation, then judges, then attempts what an answer must not be able to do.
    Ends with status 1 where answers that need execution cannot be judged in isolation.
    """
    import json

    from rich.table import Table
    from rich.text import Text

    from cruxeval_tasks.judging.doctor import Finding, examine

    findings = [*examine(), Finding("host", None, _host())]
    missing = [finding for finding in findings if finding.ok is False]
    if as_json:
        body = [{"name": f.name, "ok": f.ok, "detail": f.detail} for f in findings]
        click.echo(json.dumps({"judges": not missing, "findings": body}, indent=2))
    else:
        table = Table(box=None, show_header=False, pad_edge=False)
        for _ in range(3):
            table.add_column(overflow="fold")
        marks = {True: Text("ok", "green"), False: Text("no", "red"), None: Text()}
        for finding in findings:
            table.add_row(marks[finding.ok], finding.name, finding.detail)
        console = common.console()
        console.print(table)
        if missing:
            console.print(
                "\nAnswers that need execution cannot be judged in isolation here. Output predictions that are "
                "literals still can: nothing is executed for them. Three ways out: judge on another machine (generate "
                "with `lm_eval --predict_only --log_samples`, then `cruxeval score`); a container or kernel that "
                "offers what is missing; or, at your own risk, `--metadata '{\"allow_unisolated\": true}'` for lm_eval, "
                "`--allow-unisolated` for cruxeval."
            )
        else:
            console.print("\nAnswers can be judged here, isolated.")
    raise SystemExit(1 if missing else 0)


def _host() -> str:
    """The installed host, and whether it finds the tasks; whether answers can be judged does not hang on it."""
    from cruxeval_tasks.registration import RegistrationError, State, refuse_old, registration_status

    try:
        status = registration_status()
        refuse_old(status.host)
    except RegistrationError as error:
        return str(error)
    found = {
        State.CURRENT: "finds the tasks",
        State.STALE: "has tasks of another version or place: cruxeval register",
        State.ABSENT: "does not find the tasks yet: cruxeval register, or cruxeval run",
        State.FOREIGN: " ".join(status.reasons),
    }
    return f"lm-eval {status.host.version} {found[status.state]}"
