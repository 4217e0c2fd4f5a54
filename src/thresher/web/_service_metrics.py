"""The state of a service in the text form of Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._service import ModelService


def metrics_text(service: ModelService) -> str:
    """All metrics of a service."""
    text = _Text()
    for (path, status), n in sorted(service.n_answers.items()):
        text.add("requests_total", "counter", "Requests that were answered.", n, path=path, status=status)
    for path, seconds in sorted(service.seconds.items()):
        text.add("request_seconds_total", "counter", "Seconds from request to answer.", seconds, path=path)
    text.add("predicted_rows_total", "counter", "Rows that were predicted.", service.predictions.n_rows)
    text.add("start_time_seconds", "gauge", "When the service was started.", service.began)
    if service.learning is None:
        return text.whole()
    live, measures = service.live, service.live.measures.summary()
    text.add("learned_rows_total", "counter", "Rows that were learned.", live.n_learned)
    text.add("refused_rows_total", "counter", "Rows that the learner refused.", live.n_refused)
    text.add(
        "rows_not_yet_learned", "gauge", "Rows in the journal that are not learned yet.", service.learning.n_rows_ahead
    )
    text.add("predictions_without_label", "gauge", "Predictions that wait for a label.", len(live.waiting))
    text.add("learning_has_stopped", "gauge", "1 if rows are no longer accepted.", int(bool(service.learning.problem)))
    for name in ("error", "rmse"):
        if name in measures:
            text.add(f"progressive_{name}", "gauge", "Measured on each row before it was learned.", measures[name])
        recent = measures["since_last_change"].get(name)
        if recent is not None:
            text.add(f"recent_{name}", "gauge", "The same since the last change of the data.", recent)
    text.add("drift_alarms_total", "counter", "How often the loss has risen.", measures["drift"]["alarms"])
    return text.whole()


class _Text:
    """Lines of samples below the help and the type of their metric."""

    def __init__(self) -> None:
        self._samples: dict[str, list[str]] = {}

    def add(self, name: str, kind: str, help_: str, value: float, **labels: Any) -> None:
        full = f"thresher_{name}"
        head = [f"# HELP {full} {help_}", f"# TYPE {full} {kind}"]
        inside = ",".join(f'{key}="{each}"' for key, each in labels.items())
        self._samples.setdefault(full, head).append(f"{full}{'{' + inside + '}' if inside else ''} {value!r}")

    def whole(self) -> str:
        return "".join(f"{line}\n" for lines in self._samples.values() for line in lines)
