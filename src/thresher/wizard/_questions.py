"""The four questions: the columns, the target, what a mistake costs, and the time; with what is in doubt on the way."""

from __future__ import annotations

from . import _replies as reply
from ._data_file import table_as_text, useless_columns
from ._dialogue import DialogueAnswers, Option, WizardQuestion, screen_width


def _useless(answers: DialogueAnswers) -> list[str]:
    file = reply.file_of(answers)
    return [name for name in useless_columns(file) if name != file.usual_target]


def _is_table(answers: DialogueAnswers) -> bool:
    return reply.file_of(answers).is_table


_TARGETS = {True: "Its name, or its number in the table.", False: "The labels that come with the rows."}

QUESTIONS: tuple[WizardQuestion, ...] = (
    WizardQuestion(
        "file",
        "file",
        "words",
        "Which file holds the data?",
        "A table (CSV, Excel, Parquet, ...) with one row per case, or sparse rows; it may be compressed.",
        "Each row is one thing that was observed: a customer, a text, a measurement. Columns hold numbers or words.",
        parse=reply.read_file,
    ),
    WizardQuestion(
        "drop",
        "columns",
        "columns",
        "Which columns should be left out?",
        "Names between commas. Leave out what will not be known when you predict.",
        "Columns that only identify rows are left out automatically. A column that is filled in after the "
        "outcome, such as the day of a cancellation, makes a model that is perfect here and useless on new rows.",
        default=_useless,
        options=reply.columns,
        parse=reply.read_columns,
        spell=reply.write_columns,
        check=reply.check_left_out,
        shows=lambda answers: table_as_text(reply.file_of(answers), screen_width()),
        when=_is_table,
    ),
    WizardQuestion(
        "skip_malformed",
        "columns",
        "choice",
        "What should happen to lines that cannot be read?",
        lambda answers: reply.n_malformed(answers),
        "Such lines have too many or too few fields, or words where numbers are expected.",
        default=True,
        options=(Option("skip", True, "leave these lines out"), Option("stop", False, "stop at the first of them")),
        when=lambda answers: _is_table(answers) and bool(reply.n_malformed(answers)),
    ),
    *(
        WizardQuestion(
            parameter,
            "columns",
            "choice",
            reply.about_doubt(parameter),
            reply.other_columns_in_doubt(parameter),
            explanation,
            options=reply.ways_to_read(parameter),
            when=reply.has_doubts(parameter),
        )
        for parameter, explanation in (
            ("decimal", "A comma or a point may stand before the decimals, or between thousands."),
            ("date", "In most countries the day comes first, in the United States the month does."),
        )
    ),
    WizardQuestion(
        "text_columns",
        "columns",
        "columns",
        "Some columns of numbers hold words, too. Which of them are words?",
        reply.about_words,
        "Columns of numbers are learned as numbers, and the words in them count as missing values. In a column of "
        "words, every value is a category of its own. Answer with names between commas, or none.",
        default=[],
        options=reply.doubtful_words,
        parse=reply.read_columns,
        spell=reply.write_columns,
        when=reply.has_doubts("text_columns"),
    ),
    WizardQuestion(
        "target",
        "target",
        "column",
        lambda answers: "Which column should be predicted?" if _is_table(answers) else "What should be predicted?",
        lambda answers: (
            f"{_TARGETS[_is_table(answers)]} If there is nothing to predict, answer none: similar rows are "
            "then put into groups."
        ),
        "A model learns from rows where the answer is known, and then predicts it for rows where it is not. Rows in "
        "which it is blank are left out.",
        default=reply.usual_target,
        options=reply.targets,
        parse=reply.read_column,
        check=reply.check_target,
    ),
    WizardQuestion(
        "leaks",
        "target",
        "choice",
        "Will this be known when you predict?",
        reply.about_leaks,
        "Such a column was often written down after the outcome, or is another name for it. A model that uses it is "
        "perfect here, and useless on new rows in which it is not known yet.",
        options=(Option("yes", False, "use it"), Option("no", True, "leave it out")),
        when=lambda answers: bool(reply.leaks(answers)[1]),
    ),
    WizardQuestion(
        "cost",
        "mistakes",
        "words",
        "What does a mistake cost?",
        reply.about_cost,
        "The model weighs rows by what a mistake on them costs, and models are compared by the cost of their mistakes "
        "on rows that they have not learned from.",
        options=reply.COSTS,
        parse=reply.read_cost,
        spell=reply.write_cost,
        when=reply.has_classes,
    ),
    WizardQuestion(
        "n_clusters",
        "mistakes",
        "words",
        "How many groups?",
        f"A whole number, or {reply.AUTOMATIC}: the number that separates the groups best.",
        "Rows of one group are more similar than rows of different ones.",
        nothing=reply.AUTOMATIC,
        parse=reply.read_count(2, "the number of groups", automatic=True),
        when=lambda answers: not reply.has_target(answers),
    ),
    WizardQuestion(
        "max_seconds",
        "time",
        "words",
        "How long may it take?",
        "A time such as 30 s, 5 min or 1 h; or:",
        "With more time, more kinds of models and more settings are tried. With a limit, the result depends on the "
        "speed of the machine.",
        options=[reply.automatic("until 50 settings have been tried")],
        parse=reply.read_seconds,
        spell=reply.write_seconds,
    ),
)
