"""
A report
========

``Report`` makes one page about a fitted model: how well it does, with intervals, which features matter, and what it
was trained on. It is shown in a frame here; in a browser it is a page of its own, without scripts or network.
:doc:`/reports` explains how to read it.
"""

# sphinx_gallery_thumbnail_path = "figures/report.png"

import csv
import html
import tempfile
from pathlib import Path

from sklearn.datasets import load_breast_cancer

from thresher.online import AROWClassifier
from thresher.preprocessing import RunningScaler, StreamingPipeline, TableEncoder
from thresher.report import Report
from thresher.streams import open_stream
from thresher.training import predict_in_folds, read_all, train

tumours = load_breast_cancer()
path = Path(tempfile.mkdtemp(), "tumours.csv")
with path.open("w", newline="") as file:
    table = csv.writer(file)
    table.writerow([*tumours.feature_names, "diagnosis"])
    table.writerows([*row, tumours.target_names[kind]] for row, kind in zip(tumours.data, tumours.target, strict=True))

# %%
# A table goes through a scaler and an encoder; each row is predicted by a model that has not seen it.

model = StreamingPipeline([("scale", RunningScaler()), ("encode", TableEncoder()), ("learn", AROWClassifier())])
run = train(model, open_stream(path, target="diagnosis", max_iter=3, shuffle=1000, random_state=0))
X, y = read_all(open_stream(path, target="diagnosis"))
report = Report(run.model, title="Tumours", held_out=predict_in_folds(run.model, X, y), sample=run.sample)
print(report.to_text(["measures"]))


# %%


class Frame:
    """A page inside this one."""

    def __init__(self, page):
        self.page = page

    def _repr_html_(self):
        return (
            f'<iframe srcdoc="{html.escape(self.page)}" style="width:100%;height:42em;border:1px solid #888"></iframe>'
        )


Frame(report.to_html())
