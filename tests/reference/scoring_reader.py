"""A reader of exported scorings in plain Python: ``thresher.export(model, to="json")``."""

import itertools
import math
import re

# --- functions of one value


def in_pieces(x, knots, coefficients):
    i = sum(x >= knot for knot in knots)
    u = x - knots[max(i - 1, 0)]
    c0, c1, c2 = coefficients[i]
    return c0 + u * (c1 + u * c2)


def date_place(days, part):
    seconds = round(days * 86400)
    day = seconds // 86400
    if part == "hour":
        return seconds % 86400 // 3600
    if part == "weekday":
        return (day + 3) % 7  # 1970 began on a Thursday
    era = (day + 719468) % 146097  # months: in eras of 400 years, each from March on
    year = (era - era // 1460 + era // 36524 - era // 146096) // 365
    return ((5 * (era - (365 * year + year // 4 - year // 100)) + 2) // 153 + 2) % 12


def hash_bytes(text, seed=0):
    golden, pi = 0x9E3779B97F4A7C15, 0x243F6A8885A308D3

    def folded(a, b):
        return (a * b >> 64) ^ (a * b & (1 << 64) - 1)

    h = seed ^ golden
    for start in range(0, len(text) // 8 * 8 + 8, 8):
        h = folded(h ^ int.from_bytes(text[start : start + 8], "little"), pi)
    return folded(h ^ len(text), golden)


def bucket(text, term):
    hashed = hash_bytes(text.encode(), hash_bytes(term["prefix"].encode()))
    return (hashed >> 32) * term["n_buckets"] >> 32


def words_of(text):
    small = re.sub("[A-Z]", lambda letter: letter[0].lower(), text)
    letters = "0-9a-z\xc0-\u1fff\u2070-\u2fff\u3040-\U0010ffff"
    found = re.findall(f"[{letters}](?:[{letters}']*[{letters}])?", small)
    return [word for word in found if len(word.replace("'", "")) > 1]


def word_values(text, term):
    words, listed = words_of(text), dict(zip(term["buckets"], term["idf"], strict=True))
    if term["pairs"]:
        words = words + [f"{a} {b}" for a, b in itertools.pairwise(words)]
    counts = {}
    for word in words:
        place = bucket(word, term)
        counts[place] = counts.get(place, 0) + 1
    weigh = {"count": float, "binary": lambda c: 1.0, "log": lambda c: 1 + math.log(c)}[term["count"]]
    values = {place: weigh(c) * listed.get(place, term["other_idf"]) for place, c in counts.items()}
    length = math.sqrt(sum(value**2 for value in values.values())) if term["normalized"] else 1.0
    return {place: value / length for place, value in values.items()}


# --- scores


def part(term, row, n):
    """What a term adds to each score; a row is a dict of column to value, None if it is missing."""
    kind, x = term["term"], row[term["column"]]
    if kind in ("category", "hash", "words"):
        keys = term["values"] if kind == "category" else term["buckets"]
        known, x = dict(zip(keys, term["weights"], strict=True)), x or ""
        values = word_values(x, term) if kind == "words" else {x if kind == "category" else bucket(x, term): 1.0}
        nothing = [0.0] * n
        return [sum(v * known.get(place, nothing)[k] for place, v in values.items()) for k in range(n)]
    if x is None or (kind == "product" and row[term["other"]] is None):
        return term.get("missing", [math.nan] * n)
    if kind == "linear":
        return [w * (x - term["center"]) for w in term["weights"]]
    if kind == "curve":
        return [in_pieces(x, term["pieces"]["knots"], c) for c in term["pieces"]["coefficients"]]
    if kind == "date":
        return term["weights"][date_place(x, term["part"])]
    a, b = (in_pieces(v, **rank) for v, rank in zip((x, row[term["other"]]), term["ranks"], strict=True))
    p, q = (a, (3 * a * a - 1) / 2), (b, (3 * b * b - 1) / 2)
    return [sum(w * p[i] * q[j] for i, line in enumerate(ws) for j, w in enumerate(line)) for ws in term["weights"]]


def scores(model, row):
    n = len(model["intercept"])
    return [
        sum(parts) for parts in zip(model["intercept"], *(part(term, row, n) for term in model["terms"]), strict=True)
    ]


# --- scores to classes


def log_odds(score, how):
    return in_pieces(score, **how["pieces"]) + how["tilt"] * math.asinh(score / how["unit"])


def shares(found, calibrations):
    """Probabilities by calibrations, of one score for two classes or of one for each class."""
    if len(found) == 1:
        odds = log_odds(found[0], calibrations[0])
        return [1 / (1 + math.exp(odds)), 1 / (1 + math.exp(-odds))]
    leads = [s - max(other for j, other in enumerate(found) if j != k) for k, s in enumerate(found)]
    logs = [-math.log1p(math.exp(-log_odds(s, how))) for s, how in zip(leads, calibrations, strict=True)]
    logs, power = [min(log, -1e-9) for log in logs], 1.0
    while abs(sum(math.exp(power * log) for log in logs) - 1) > 1e-6:  # Newton's method
        parts = [math.exp(power * log) for log in logs]
        slope = sum(log * each for log, each in zip(logs, parts, strict=True)) / sum(parts)
        power = max(power - math.log(sum(parts)) / slope, 0.0)
    parts = [math.exp(power * log) for log in logs]
    return [each / sum(parts) for each in parts]


def predict(model, row):
    """The value or class of a row."""
    found, decision = scores(model, row), model.get("decision")
    if decision is None:
        return found[0]
    if "threshold" in decision:
        return model["classes"][found[0] > decision["threshold"]]
    if "factors" in decision:
        found = [f * p for f, p in zip(decision["factors"], shares(found, decision["calibrations"]), strict=True)]
    return model["classes"][found.index(max(found))]


def probabilities(model, row):
    """The probability of each class."""
    return shares(scores(model, row), model["probabilities"])
