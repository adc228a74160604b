"""`python -m cruxeval_tasks` is `cruxeval`, for launchers that take a module (`accelerate launch -m`)."""

from cruxeval_tasks.cli import main

main(prog_name="cruxeval")
