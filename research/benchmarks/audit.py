"""Audits of labels, from the rows to the ranking, beside cleanlab with logistic regression."""

from __future__ import annotations

from functools import partial

from bblr.evaluation import add_noise
from research.benchmarks.cases import Bar, Measured, Settings, case
from research.benchmarks.timing import race, seconds, show
from research.claims.audit import FLIPS, load_audited, own_ranking, rival_ranking

_RATIO = "time / cleanlab's"


def _measure(names: tuple[str, ...], settings: Settings, repeats: int) -> Measured:
    own, rival, notes, record = 0.0, 0.0, [], {}
    for name in names:
        X, y = load_audited(name)
        n = settings.rows(len(y))
        X, y = add_noise(
            X[:n], y[:n], protocol="label-flip", fraction=FLIPS, random_state=settings.seed
        )
        timings = race(
            {
                "bblr": partial(own_ranking, X, y, settings.seed),
                "cleanlab": partial(rival_ranking, X, y, settings.seed),
                # By default it starts processes, which small tables do not repay.
                "cleanlab n_jobs=1": partial(rival_ranking, X, y, settings.seed, 1),
            },
            settings.repeats(repeats),
            warm_up=repeats > 2,
        )
        own, rival = own + timings["bblr"].best, rival + timings["cleanlab"].best
        notes.append(f"{name}: {show(timings)}")
        record[name] = seconds(timings)
    return Measured({_RATIO: own / rival}, notes, {"seconds": record})


@case("audit-uci", "labels of four small sets, 10 % of them flipped", Bar(_RATIO, "<=", 0.5))
def audit_uci(settings: Settings) -> Measured:
    return _measure(("breast", "heart", "liver", "pima"), settings, 7)


@case("audit-digits", "labels of 1,797 digits, 10 % of them flipped", Bar(_RATIO, "<=", 0.5))
def audit_digits(settings: Settings) -> Measured:
    return _measure(("digits",), settings, 5)


@case("audit-trec07p", "labels of 75,399 messages, 10 % of them flipped", Bar(_RATIO, "<=", 0.5))
def audit_trec07p(settings: Settings) -> Measured:
    return _measure(("trec07p",), settings, 2)
