"""The questions, in order: the file, the task, the way to learn it and the time to search."""

from __future__ import annotations

from . import _replies as reply
from ._dialogue import DialogueAnswers, Option, WizardQuestion


def _about_target(answers: DialogueAnswers) -> str:
    look = reply.look_at(answers)
    if look.labels is not None and len(look.labels) <= 10:
        return f"In the first {look.n_rows:,} rows it is one of: {', '.join(map(str, look.labels))}."
    many = f"{len(look.labels):,}" if look.labels is not None else "more than a thousand"
    return f"In the first {look.n_rows:,} rows it takes {many} different values."


def _may_be_curved(answers: DialogueAnswers) -> bool:
    plain = answers.get("task_column") is None and answers.get("groups") is None and reply.has_only_classes(answers)
    return plain and answers.get("shape") in (None, reply.usual_shape())  # others are curved themselves, or must not be


QUESTIONS: tuple[WizardQuestion, ...] = (
    WizardQuestion(
        "file",
        "Which file holds the data?",
        "A table (CSV, Parquet, Arrow) with one row per case, or sparse rows (svmlight); it may be compressed.",
        "Each row is one thing that was observed: a customer, a text, a measurement. Columns hold numbers or words.",
        parse=reply.read_file,
    ),
    WizardQuestion(
        "has_target",
        "Does the file contain the values that you would like to predict?",
        "If there is nothing to predict, similar rows are grouped instead.",
        "A model learns from rows where the answer is known, and then predicts it for rows where it is not. Without "
        "answers, rows can still be put into groups (clusters).",
        default=True,
        options=reply.YES_NO,
    ),
    WizardQuestion(
        "target",
        "Which column is to be predicted?",
        lambda answers: f"The file has {len(reply.file_of(answers).columns)} columns.",
        "The prediction is made from all other columns. Answer with the name of a column, or with its number.",
        default=lambda answers: reply.file_of(answers).columns[-1],
        options=reply.columns,
        parse=reply.read_column,
        when=lambda answers: answers["has_target"] and reply.file_of(answers).is_table,
    ),
    WizardQuestion(
        "classification",
        "Is it a class, such as spam or ham, rather than an amount?",
        _about_target,
        "Classes have no order (yes or no; red, green or blue). Amounts do: a price, a temperature.",
        default=lambda answers: reply.look_at(answers).task == "classification",
        options=reply.YES_NO,
        when=lambda answers: answers["has_target"],
    ),
    WizardQuestion(
        "task_column",
        "Do rows belong to several related tasks? Which column names the task?",
        "Schools, customers, machines: each gets weights of its own, and all of them use the same columns.",
        "Tasks with few rows learn from the others. Answer with the name of the column, or no.",
        options=reply.task_columns,
        parse=reply.read_task_column,
        when=lambda answers: reply.has_words(answers) and reply.may_have_tasks(answers),
        by_name_only=True,
    ),
    WizardQuestion(
        "groups",
        "Do some columns belong together, to be used or left out together?",
        "words: those of each column; or names between commas, groups between semicolons: age, income; town.",
        "A group is used as a whole or not at all. prefix:_ puts columns together whose names agree up to the sign.",
        options=(
            Option("no", None, "every column counts on its own"),
            Option("words", "encoder", "the words of each column are a group"),
        ),
        parse=reply.read_groups,
        spell=reply.write_groups,
        when=lambda answers: reply.has_words(answers) and answers.get("task_column") is None,
        by_name_only=True,
    ),
    WizardQuestion(
        "unlabelled_label",
        "Are there rows whose class is not known? Which label do they have?",
        "They are learned from without a class, which helps where labels are few.",
        "Labels are often expensive, and rows are not. Such rows often carry ? or -1 in the column to predict. Answer "
        "with that label, or no.",
        options=reply.label_options("every row has a class that is known"),
        parse=reply.read_label(is_known=True),
        when=lambda answers: reply.has_plain_classes(answers) and len(reply.look_at(answers).labels or []) > 2,
        by_name_only=True,
    ),
    WizardQuestion(
        "outlier_label",
        "Can a row belong to none of the classes? Which label does it have?",
        "The model then predicts this label, too. No row needs to have it yet: any name, such as unknown, will do (or "
        "-1 where labels are numbers).",
        "A model usually assigns every row to one of its classes, however unusual it is. Here it also learns where the "
        "classes end; rows that are known to be of no class help with that. Answer with a label, or no.",
        when=lambda answers: reply.has_plain_classes(answers) and answers.get("unlabelled_label") is None,
        options=reply.label_options("every row, also a new one, has one of the classes"),
        parse=reply.read_label(is_known=False),
        by_name_only=True,
    ),
    WizardQuestion(
        "loss",
        "Which loss should be minimised?",
        "If in doubt, leave it to the method.",
        "The loss is the price of a mistake while learning. It decides how much a row counts that is far on the wrong "
        "side.",
        options=reply.losses,
        when=lambda answers: answers["has_target"] and reply.has_only_classes(answers),
    ),
    WizardQuestion(
        "criterion",
        "By which measure should models be compared?",
        "Each model is measured on rows that it has not learned from (cross-validation).",
        "The search keeps the model that is best by this measure.",
        options=reply.criteria,
        when=lambda answers: answers["has_target"],
    ),
    WizardQuestion(
        "n_clusters",
        "How many clusters?",
        f"A whole number, or {reply.AUTOMATIC}: the number that separates the groups best.",
        "Rows of one cluster are more similar than rows of different ones.",
        nothing=reply.AUTOMATIC,
        parse=reply.read_count(2, "the number of clusters", automatic=True),
        when=lambda answers: not answers["has_target"],
    ),
    WizardQuestion(
        "shape",
        "What do you expect clusters to look like?",
        "If in doubt, the first: it also shows which columns matter.",
        "Most clusters are heaps around a middle. Rings, moons and chains need a method that follows their shape; rows "
        "along lines or planes, one that measures the distance from these.",
        default=reply.usual_shape,
        options=reply.shapes,
        parse=reply.read_shape,
        when=lambda answers: not answers["has_target"],
        by_name_only=True,
    ),
    WizardQuestion(
        "metric",
        "What makes two rows similar?",
        "Distance suits measurements, direction suits counts such as words in texts.",
        "Two texts about the same topic point in the same direction, even if one is much longer.",
        default="euclidean",
        options=reply.METRICS,
        when=lambda answers: reply.clusters_take(answers, "metric"),
    ),
    WizardQuestion(
        "max_iter",
        "How many iterations at most?",
        "It stops earlier when nothing moves any more.",
        "In each iteration every row joins the nearest cluster, and every cluster moves to the middle of its rows.",
        default=20,
        parse=reply.read_count(1, "the number of iterations"),
        when=lambda answers: reply.clusters_take(answers, "max_iter"),
    ),
    WizardQuestion(
        "curved",
        "May boundaries be curved (Nystroem features)?",
        "Curved boundaries fit more, take more time, and hide which columns matter.",
        "Rows are compared with a few typical rows of the data, and these similarities become the features of a linear "
        "model. Straight boundaries are enough for wide data, and their weights can be read.",
        default=lambda answers: None if answers["has_target"] else False,
        options=lambda answers: (
            *([Option(reply.AUTOMATIC, None, "only if they are clearly better")] if answers["has_target"] else []),
            *reply.YES_NO,
        ),
        when=_may_be_curved,
    ),
    WizardQuestion(
        "kernel",
        "Which kernel should compare two rows?",
        "If in doubt, rbf.",
        "The kernel measures how similar two rows are; its width is tuned together with the rest.",
        default="rbf",
        options=reply.KERNELS,
        when=lambda answers: answers.get("curved") is True,
    ),
    WizardQuestion(
        "method",
        "Which method?",
        "Those that fit your answers so far.",
        "`thresher methods` on the command line explains each of them.",
        options=reply.methods,
        when=lambda answers: answers["has_target"] and len(reply.methods_for(answers)) > 1,
    ),
    WizardQuestion(
        "search",
        "How should good parameters be searched for?",
        "Annealing explores widely and then refines.",
        "Every method has one or two numbers, such as the strength of a penalty, that nobody knows beforehand.",
        default="annealing",
        options=reply.SEARCHES,
    ),
    WizardQuestion(
        "n_evaluations",
        "How many models may be tried?",
        "More take longer and find better parameters; 50 is a fair start.",
        "Each try is one cross-validation: the data are learned several times, each time without another part.",
        default=50,
        parse=reply.read_count(1, "the number of tries"),
    ),
)

LAST_QUESTIONS: tuple[WizardQuestion, ...] = (
    WizardQuestion(
        "model",
        "Where should the model be saved?",
        lambda answers: f"A file name such as {answers.data}.thresher; ENTER saves nothing.",
        "`thresher predict` and thresher.persistence.load_model read it again; yes takes the suggested name.",
        nothing="no",
        parse=reply.read_place(".thresher"),
    ),
    WizardQuestion(
        "report",
        "Where should a report be saved?",
        lambda answers: f"A file name such as {answers.data}.html (or .txt, .json); ENTER saves nothing.",
        "It shows the measures, the features that matter and the command to repeat it; yes takes the suggested name.",
        nothing="no",
        parse=reply.read_place(".html", (".html", ".txt", ".json")),
    ),
)
