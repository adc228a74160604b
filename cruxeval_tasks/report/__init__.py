"""The report: one self-contained page about scored runs.

`difficulty` says what makes a problem hard, `marking` finds the answer's place in a completion, `confidence` gathers what
the score rests on, `data` brings these and the scores together, `charts` draws, `payload` packs what the page's script
reads, and `page` fills the template. Only `difficulty.executed_lines` executes anything, in the judge's workers.
"""
