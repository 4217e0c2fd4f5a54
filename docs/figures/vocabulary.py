"""The table of "Vocabulary", from what estimators declare: ``python docs/figures/vocabulary.py``.

Parameters that at least three estimators have, with the first sentence of their documentation, their type and their
defaults. The page quotes the output (``python docs/figures/quotes.py --run``).
"""

from __future__ import annotations

import re
from collections import defaultdict

from thresher import registry

FEWEST = 3


def main() -> None:
    declared = defaultdict(list)
    for cls in registry.estimators().values():
        for name, p in cls._params.items():
            declared[name].append(p)
    print("### parameters\n| parameter | meaning | type | defaults | estimators |\n| --- | --- | --- | --- | --- |")
    for name, all_ in sorted(declared.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(all_) < FEWEST:
            continue
        docs = [" ".join(p.doc.split()) for p in all_]
        usual = max(docs, key=docs.count)
        first = re.split(r"(?<=[^.][.:])\s", usual.replace("|", "\\|"))[0].rstrip(":.")
        first = re.sub(r"\s*\(:math:[^)]*in \[\d\]_[^)]*\)", "", first)  # the letters of the papers, which differ
        first = re.sub(r"\s*\((?:[^()]|\([^()]*\))*$|\s*\[\d\]_", "", first.replace("``", "`"))
        meaning = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", re.sub(r":math:`([^`]*)`", r"$\1$", first))
        types = max((p.rule.type for p in all_), key=[p.rule.type for p in all_].count).removesuffix(" or None")
        defaults = sorted({repr(p.default) for p in all_}, key=lambda d: (len(d), d))
        shown = ", ".join(f"`{d}`" for d in defaults[:6]) + (", ..." if len(defaults) > 6 else "")
        print(f"| `{name}` | {meaning} | {types.replace('|', ' or ')} | {shown} | {len(all_)} |")


if __name__ == "__main__":
    main()
