"""The questions, in order: what is in the file, what is wanted, how to learn it and how long to search."""

from __future__ import annotations

from typing import Any

from ._dialogue import Answers, Option, Question
from ._file import Known
from ._replies import (
    ABOUT_KERNELS,
    ABOUT_SEARCHES,
    AUTOMATIC,
    CLUSTERING,
    YES_NO,
    algorithms,
    clusters_take,
    columns,
    criteria,
    file_of,
    has_only_classes,
    has_words,
    label_options,
    labels_of,
    losses,
    may_have_tasks,
    methods_for,
    read_clusters,
    read_column,
    read_count,
    read_file,
    read_groups,
    read_label,
    read_place,
    read_shape,
    read_task_column,
    shapes,
    speaks_of_classes,
    task_columns,
    write_groups,
)


def _always(text: str) -> Any:
    return lambda data, answers: text


def _about_target(data: Known, answers: Answers) -> str:
    seen = file_of(data, answers).look(answers.get("target"))
    labels = seen.labels or []
    if seen.labels is not None and len(labels) <= 10:
        return f"In the first {seen.n_rows:,} rows it is one of: {', '.join(map(str, labels))}."
    many = f"{len(labels):,}" if seen.labels is not None else "more than a thousand"
    return f"In the first {seen.n_rows:,} rows it takes {many} different values."


QUESTIONS: tuple[Question, ...] = (
    Question(
        "file",
        _always("Which file holds the data?"),
        _always("A table (CSV, Parquet, Arrow) with one row per case, or sparse rows (svmlight); may be compressed."),
        "Each row is one thing that was observed: a customer, a text, a measurement. Columns hold numbers or words.",
        default=lambda data, answers: None,
        parse=read_file,
    ),
    Question(
        "has_target",
        _always("Does the file say what you would like to predict?"),
        _always("If there is nothing to predict, rows that are alike are grouped instead."),
        "A model learns from rows where the answer is known, and then predicts it for rows where it is not. Without "
        "answers, rows can still be put into groups (clusters).",
        default=lambda data, answers: True,
        options=lambda data, answers: YES_NO,
    ),
    Question(
        "target",
        _always("Which column is to be predicted?"),
        lambda data, answers: f"The file has {len(file_of(data, answers).columns)} columns.",
        "All other columns are what the prediction is made from. Columns are called by name, or counted from 1.",
        default=lambda data, answers: file_of(data, answers).columns[-1],
        options=columns,
        parse=read_column,
        when=lambda data, answers: answers["has_target"] and file_of(data, answers).is_table,
    ),
    Question(
        "classification",
        _always("Is it a class, such as spam or ham, rather than an amount?"),
        _about_target,
        "Classes have no order (yes or no; red, green or blue). Amounts do: a price, a temperature.",
        default=lambda data, answers: file_of(data, answers).look(answers.get("target")).task == "classification",
        options=lambda data, answers: YES_NO,
        when=lambda data, answers: answers["has_target"],
    ),
    Question(
        "tasks",
        _always("Do rows belong to several related tasks? Which column says to which?"),
        _always("Schools, customers, machines: each gets weights of its own, and all choose the same columns."),
        "What one task has seen too little of is learned from the others. Answer with the name of the column, or no.",
        default=lambda data, answers: None,
        options=task_columns,
        parse=read_task_column,
        when=lambda data, answers: has_words(data, answers) and may_have_tasks(data, answers),
        by_name_only=True,
    ),
    Question(
        "groups",
        _always("Do some columns belong together, to be used or left out together?"),
        _always("words: those of each column; or names between commas, groups between semicolons: age, income; town."),
        "A group is used as a whole or not at all. prefix:_ puts columns together whose names agree up to the sign.",
        default=lambda data, answers: None,
        options=lambda data, answers: (
            Option("no", None, "every column counts on its own"),
            Option("words", "encoder", "the words of each column are a group"),
        ),
        parse=read_groups,
        spell=write_groups,
        when=lambda data, answers: has_words(data, answers) and answers.get("tasks") is None,
        by_name_only=True,
    ),
    Question(
        "unlabelled",
        _always("Are there rows whose class is not known? Which label do they have?"),
        _always("They are learned from without a class: where labels are few, it helps to see what else there is."),
        "Labels are often dear, and rows are not. Such rows often carry ? or -1 in the column to predict. Answer with "
        "that label, or no.",
        default=lambda data, answers: None,
        options=label_options("every row has a class that is known"),
        parse=read_label(is_known=True),
        when=lambda data, answers: speaks_of_classes(data, answers) and len(labels_of(data, answers)) > 2,
        by_name_only=True,
    ),
    Question(
        "outliers",
        _always("Can a row belong to none of the classes? Which label does it have?"),
        _always("Predictions then say so. A label that no row has yet will do, such as unknown (or -1 for numbers)."),
        "A model usually gives every row to one of its classes, however strange the row is. Here it also learns where "
        "the classes end; rows that are known to be of no class help to find that out. Answer with a label, or no.",
        default=lambda data, answers: None,
        options=label_options("every row, also of new ones, has one of the classes"),
        parse=read_label(is_known=False),
        when=lambda data, answers: speaks_of_classes(data, answers) and answers.get("unlabelled") is None,
        by_name_only=True,
    ),
    Question(
        "loss",
        _always("Which loss: how is a mistake charged while learning?"),
        _always("If in doubt, leave it to the method."),
        "The loss is what learning makes small. It decides how much a row counts that is far on the wrong side.",
        default=lambda data, answers: None,
        options=losses,
        when=lambda data, answers: answers["has_target"] and has_only_classes(answers),
    ),
    Question(
        "criterion",
        _always("By which measure are models compared?"),
        _always("Each model is measured on rows that it has not learned from (cross-validation)."),
        "The search keeps the model that is best by this measure.",
        default=lambda data, answers: None,
        options=criteria,
        when=lambda data, answers: answers["has_target"],
    ),
    Question(
        "clusters",
        _always("How many clusters?"),
        _always(f"A whole number, or {AUTOMATIC}: as many as keep the groups well apart."),
        "Rows of one cluster are more alike than rows of different ones.",
        default=lambda data, answers: None,
        nothing=AUTOMATIC,
        parse=read_clusters,
        when=lambda data, answers: not answers["has_target"],
    ),
    Question(
        "shape",
        _always("What do you expect clusters to look like?"),
        _always("If in doubt, the first: it also says which columns matter."),
        "Most clusters are heaps around a middle. Rings, moons and chains need a method that follows their shape; rows "
        "along lines or planes, one that measures the distance from these.",
        default=lambda data, answers: CLUSTERING,
        options=shapes,
        parse=read_shape,
        when=lambda data, answers: not answers["has_target"],
        by_name_only=True,
    ),
    Question(
        "metric",
        _always("What makes two rows alike?"),
        _always("Distance suits measurements, direction suits counts such as words in texts."),
        "Two texts about the same thing point in the same direction, though one may be much longer.",
        default=lambda data, answers: "euclidean",
        options=lambda data, answers: (
            Option("euclidean", "euclidean", "a small distance (least squares)"),
            Option("cosine", "cosine", "the same direction"),
        ),
        when=lambda data, answers: clusters_take(answers, "metric"),
    ),
    Question(
        "iterations",
        _always("How many rounds of moving the clusters at most?"),
        _always("It stops earlier when nothing moves any more."),
        "In each round every row joins the nearest cluster, and every cluster moves to the middle of its rows.",
        default=lambda data, answers: 20,
        parse=read_count(1, "the number of rounds"),
        when=lambda data, answers: clusters_take(answers, "max_iter"),
    ),
    Question(
        "nystroem",
        _always("Should boundaries be allowed to bend (Nystroem features)?"),
        _always("Bent ones fit more, cost more time, and hide which columns matter."),
        "Rows are compared with a few typical rows of the data, and these similarities become the features of a linear "
        "model. Straight boundaries are enough for wide data, and their weights can be read.",
        default=lambda data, answers: None if answers["has_target"] else False,
        options=lambda data, answers: (
            *([Option(AUTOMATIC, None, "only if that is clearly better")] if answers["has_target"] else []),
            *YES_NO,
        ),
        when=lambda data, answers: (
            answers.get("tasks") is None
            and answers.get("groups") is None
            and has_only_classes(answers)
            and answers.get("shape") in (None, CLUSTERING)  # others bend by themselves, or must not
        ),
    ),
    Question(
        "kernel",
        _always("Which kernel: how are two rows compared?"),
        _always("If in doubt, rbf."),
        "The kernel says how alike two rows are; its width is tuned together with the rest.",
        default=lambda data, answers: "rbf",
        options=lambda data, answers: [Option(name, name, about) for name, about in ABOUT_KERNELS.items()],
        when=lambda data, answers: answers.get("nystroem") is True,
    ),
    Question(
        "algorithm",
        _always("Which algorithm?"),
        _always("Those that fit your answers so far."),
        "`thresher methods` on the command line tells more about each of them.",
        default=lambda data, answers: None,
        options=algorithms,
        when=lambda data, answers: answers["has_target"] and len(methods_for(answers)) > 1,
    ),
    Question(
        "search",
        _always("How to search for good parameters?"),
        _always("Annealing looks around widely and then refines."),
        "Every method has one or two numbers, such as the strength of a penalty, that nobody knows beforehand.",
        default=lambda data, answers: "annealing",
        options=lambda data, answers: [Option(name, name, about) for name, about in ABOUT_SEARCHES.items()],
    ),
    Question(
        "budget",
        _always("How many models may be tried?"),
        _always("More take longer and find better parameters; 50 is a fair start."),
        "Each try is one cross-validation: the data are learned several times, each time without another part.",
        default=lambda data, answers: 50,
        parse=read_count(1, "the number of tries"),
    ),
)

LAST_QUESTIONS: tuple[Question, ...] = (
    Question(
        "model",
        _always("Where should the model be saved?"),
        lambda data, answers: f"A file name such as {data}.thresher; ENTER saves nothing.",
        "`thresher predict` and thresher.persistence.load_model read it again; yes takes the suggested name.",
        default=lambda data, answers: None,
        nothing="no",
        parse=read_place(".thresher"),
    ),
    Question(
        "report",
        _always("Where should a report be saved?"),
        lambda data, answers: f"A file name such as {data}.html (or .txt, .json); ENTER saves nothing.",
        "It shows the measures, the features that matter and how to do it again; yes takes the suggested name.",
        default=lambda data, answers: None,
        nothing="no",
        parse=read_place(".html", (".html", ".txt", ".json")),
    ),
)
