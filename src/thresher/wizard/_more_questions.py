"""The questions that are asked on request: structure of the rows, the way to learn, the search, and files to write."""

from __future__ import annotations

from . import _more_replies as more
from . import _replies as reply
from ._dialogue import MORE, Option, WizardQuestion

MORE_QUESTIONS: tuple[WizardQuestion, ...] = (
    WizardQuestion(
        "task",
        MORE,
        "choice",
        "Is it a class, such as spam or ham, or an amount?",
        "Numbers may be either: marks from 1 to 5, or a price.",
        "Classes have no order (yes or no; red, green or blue). Amounts do: a price, a temperature.",
        options=more.TASKS,
        when=lambda answers: reply.has_target(answers) and not reply.look_at(answers).is_text,
    ),
    WizardQuestion(
        "task_column",
        MORE,
        "choice",
        "Do rows belong to several related tasks? Which column names the task?",
        "Schools, customers, machines: each gets weights of its own, and all of them use the same columns.",
        "Tasks with few rows learn from the others. Answer with the name of the column, or no.",
        options=more.task_columns,
        parse=more.read_task_column,
        when=more.may_have_tasks,
    ),
    WizardQuestion(
        "groups",
        MORE,
        "words",
        "Do some columns belong together, to be used or left out together?",
        "Names between commas, groups between semicolons, such as: age, income; town. Or:",
        "A group is used as a whole or not at all. prefix:_ puts columns together whose names agree up to the sign.",
        options=(
            Option("no", None, "every column counts on its own"),
            Option("words", "encoder", "the words of each column are a group"),
        ),
        parse=more.read_groups,
        spell=more.write_groups,
        when=lambda answers: reply.has_words(answers) and answers.get("task_column") is None,
    ),
    WizardQuestion(
        "unlabelled_label",
        MORE,
        "choice",
        "Are there rows whose class is not known? Which label do they have?",
        "They are learned from without a class, which helps where labels are few.",
        "Labels are often expensive, and rows are not. In the column to predict, such rows are often blank, or carry ? "
        "or -1. Answer with that label, with blank, or with no: rows that are blank are then left out.",
        options=more.label_options("only rows with a class are learned from", with_blank=True),
        parse=more.read_label(is_known=True),
        when=more.may_lack_classes,
    ),
    WizardQuestion(
        "outlier_label",
        MORE,
        "choice",
        "Can a row belong to none of the classes? Which label does it have?",
        "The model then predicts this label, too. No row needs to have it yet: any name, such as unknown, will do (or "
        "-1 where labels are numbers).",
        "A model usually assigns every row to one of its classes, however unusual it is. Here it also learns where the "
        "classes end; rows that are known to be of no class help with that. Answer with a label, or no.",
        options=more.label_options("every row, also a new one, has one of the classes"),
        parse=more.read_label(is_known=False),
        when=more.may_have_outliers,
    ),
    WizardQuestion(
        "loss",
        MORE,
        "choice",
        "Which loss should be minimised?",
        "If in doubt, leave it to the method.",
        "The loss is the price of a mistake while learning. It decides how much a row counts that is far on the wrong "
        "side.",
        options=more.losses,
        when=lambda answers: reply.has_target(answers) and more.has_only_classes(answers),
    ),
    WizardQuestion(
        "criterion",
        MORE,
        "choice",
        "By which measure should models be compared?",
        "Each model is measured on rows that it has not learned from (cross-validation).",
        "The search keeps the model that is best by this measure.",
        options=more.criteria,
        when=lambda answers: reply.has_target(answers) and answers.get("cost") is None,
    ),
    WizardQuestion(
        "shape",
        MORE,
        "choice",
        "What do you expect groups to look like?",
        "If in doubt, the first: it also shows which columns matter.",
        "Most groups are heaps around a middle. Rings, moons and chains need a method that follows their shape; rows "
        "along lines or planes, one that measures the distance from these.",
        default=reply.usual_shape,
        options=more.shapes,
        parse=more.read_shape,
        when=lambda answers: not reply.has_target(answers),
    ),
    WizardQuestion(
        "metric",
        MORE,
        "choice",
        "What makes two rows similar?",
        "Distance suits measurements, direction suits counts such as words in texts.",
        "Two texts about the same topic point in the same direction, even if one is much longer.",
        default="euclidean",
        options=more.METRICS,
        when=more.clusters_take("metric"),
    ),
    WizardQuestion(
        "max_iter",
        MORE,
        "words",
        "How many iterations at most?",
        "It stops earlier when nothing moves any more.",
        "In each iteration every row joins the nearest group, and every group moves to the middle of its rows.",
        default=20,
        parse=reply.read_count(1, "the number of iterations"),
        when=more.clusters_take("max_iter"),
    ),
    WizardQuestion(
        "kernel",
        MORE,
        "choice",
        "May boundaries be curved, and by which kernel?",
        "Curved boundaries fit more, take more time, and hide which columns matter.",
        "Rows are compared with a few typical rows of the data by a kernel, and these similarities become the features "
        "of a linear model. Straight boundaries are enough for wide data, and their weights can be read.",
        options=more.KERNELS,
        when=more.may_be_curved,
    ),
    WizardQuestion(
        "method",
        MORE,
        "choice",
        "Which method?",
        "Those that fit your answers so far.",
        "`thresher methods` on the command line explains each of them.",
        options=more.methods,
        when=lambda answers: reply.has_target(answers) and len(more.methods_for(answers)) > 1,
    ),
    WizardQuestion(
        "search",
        MORE,
        "choice",
        "How should good parameters be searched for?",
        "Annealing explores widely and then refines.",
        "Every method has one or two numbers, such as the strength of a penalty, that nobody knows beforehand.",
        default="annealing",
        options=more.SEARCHES,
    ),
    WizardQuestion(
        "n_evaluations",
        MORE,
        "words",
        "How many models may be tried?",
        "More take longer and find better parameters; 50 is a fair start.",
        "Each try is one cross-validation: the data are learned several times, each time without another part.",
        default=50,
        parse=reply.read_count(1, "the number of tries"),
    ),
    *(
        WizardQuestion(
            name,
            MORE,
            "words",
            f"Where should the {name} be saved?",
            "The name of a file, or no.",
            explanation,
            default=lambda answers, name=name: answers.places(answers).get(name),
            parse=more.read_place(allowed),
            nothing="no",
        )
        for name, allowed, explanation in (
            ("model", (), "`thresher predict` and thresher.persistence.load_model read it again."),
            (
                "report",
                (".html", ".txt", ".md", ".json"),
                "It shows the measures, the features that matter and the command to repeat it.",
            ),
        )
    ),
)
