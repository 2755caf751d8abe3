"""Write `references.json`: figures of the same inputs by the packages that the field uses.

`python tests/grading/metrics/references/__main__.py` with a Python that has
`pip install numpy scipy statsmodels scikit-learn krippendorff irrCAC`. It uses nothing of this project, so
that the two cannot share a fault. The inputs are seeded and written beside the figures.
"""

from __future__ import annotations

import json
import random
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "scipy", "statsmodels", "scikit-learn", "krippendorff", "irrCAC")
LABELS = ["a", "b", "c", "(none)"]


def main() -> None:
    """Write the file beside this one."""
    chance = random.Random(7)
    document = {
        "packages": {name: metadata.version(name) for name in PACKAGES},
        "confusion": [_confusion(chance) for _ in range(5)],
        "wilson": [_wilson(passed, total) for passed, total in ((0, 7), (3, 9), (9, 9), (262, 300), (1, 1000))],
        "mcnemar": [_mcnemar(b, c) for b, c in ((0, 1), (3, 12), (6, 0), (5, 5), (40, 61), (900, 1010), (5200, 5000))],
        "multiplicity": [_multiplicity(chance) for _ in range(4)],
        "alpha": [_alpha(chance, raters) for raters in (2, 3, 4, 5)],
        "chance_corrected": [_chance_corrected(chance, raters) for raters in (2, 3, 4)],
        "percentiles": [_percentiles(chance, size) for size in (1, 2, 5, 40)],
    }
    lines = (f"{json.dumps(name)}: {json.dumps(figures)}" for name, figures in document.items())
    text = ",\n".join(lines)
    (Path(__file__).parent / "references.json").write_text(f"{{\n{text}\n}}\n", "utf-8")


def _confusion(chance: random.Random) -> dict[str, Any]:
    metrics = import_module("sklearn.metrics")
    tables = import_module("statsmodels.stats.inter_rater")
    expected = chance.choices(LABELS, weights=[5, 3, 1, 2], k=80)
    actual = [label if chance.random() < 0.7 else chance.choice(LABELS[:3]) for label in expected]
    figures: dict[str, Any] = {"cases": list(zip(expected, actual, strict=True))}
    per_class = metrics.precision_recall_fscore_support(expected, actual, labels=LABELS, zero_division=0)
    figures["per_class"] = {label: [float(row[i]) for row in per_class] for i, label in enumerate(LABELS)}
    for average in ("macro", "micro"):
        rates = metrics.precision_recall_fscore_support(expected, actual, average=average, zero_division=0)
        figures[average] = [float(rate) for rate in rates[:3]]
    kappa = tables.cohens_kappa(metrics.confusion_matrix(expected, actual, labels=LABELS))
    figures["kappa"] = {"value": float(kappa.kappa), "low": float(kappa.kappa_low), "high": float(kappa.kappa_upp)}
    return figures


def _wilson(passed: int, total: int) -> dict[str, Any]:
    ends = import_module("statsmodels.stats.proportion").proportion_confint(passed, total, method="wilson")
    return {"passed": passed, "total": total, "ends": [float(end) for end in ends]}


def _mcnemar(only_before: int, only_after: int) -> dict[str, Any]:
    test = import_module("statsmodels.stats.contingency_tables").mcnemar(
        [[0, only_before], [only_after, 0]], exact=True
    )
    return {"only_before": only_before, "only_after": only_after, "p_value": float(test.pvalue)}


def _multiplicity(chance: random.Random) -> dict[str, Any]:
    multipletests = import_module("statsmodels.stats.multitest").multipletests
    p_values = [round(chance.random() ** 3, 4) for _ in range(8)]
    adjusted = {name: [float(p) for p in multipletests(p_values, method=name)[1]] for name in ("holm", "fdr_bh")}
    return {"p_values": p_values, **adjusted}


def _rows(chance: random.Random, raters: int) -> list[list[int | None]]:
    rows: list[list[int | None]] = []
    for _ in range(25):
        true = chance.randint(1, 4)
        labels = [true if chance.random() < 0.7 else chance.randint(1, 4) for _ in range(raters)]
        rows.append([None if chance.random() < 0.15 else label for label in labels])
    return rows


def _alpha(chance: random.Random, raters: int) -> dict[str, Any]:
    numpy = import_module("numpy")
    alpha = import_module("krippendorff").alpha
    rows = _rows(chance, raters)
    data = numpy.array([[numpy.nan if label is None else label for label in row] for row in rows], dtype=float).T
    scales = ("nominal", "ordinal", "interval")
    return {
        "rows": rows,
        **{scale: float(alpha(reliability_data=data, level_of_measurement=scale)) for scale in scales},
    }


def _chance_corrected(chance: random.Random, raters: int) -> dict[str, Any]:
    pandas = import_module("pandas")
    normal = import_module("scipy.stats")
    raw = import_module("irrCAC.raw").CAC
    rows = _rows(chance, raters)
    # Eleven digits: the package rounds to five unless told.
    cac = raw(pandas.DataFrame(rows), digits=11)
    figures: dict[str, Any] = {"rows": rows}
    for name in ("gwet", "fleiss"):
        estimate = getattr(cac, name)()["est"]
        high = estimate["confidence_interval"][1]
        units = sum(any(label is not None for label in row) for row in rows)
        # The package takes Student's t; its standard error is the interval's half width over that quantile.
        error = (high - estimate["coefficient_value"]) / normal.t.ppf(0.975, units - 1)
        figures[name] = {
            "value": float(estimate["coefficient_value"]),
            "error": float(error) if high < 1 else None,
            "agreement": float(estimate["pa"]),
        }
    return figures


def _percentiles(chance: random.Random, size: int) -> dict[str, Any]:
    numpy = import_module("numpy")
    values = [round(chance.expovariate(0.01), 3) for _ in range(size)]
    return {"values": values, "percentiles": [float(numpy.percentile(values, p)) for p in (0, 50, 90, 95, 99, 100)]}


if __name__ == "__main__":
    main()
