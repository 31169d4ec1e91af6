r"""The approximate marginal likelihood of ordered levels, as counts at the cuts between them.

An answer has one of K levels, from 0 on. With F the logistic distribution and K - 1 cuts in order,

.. math:: P(y \ge k) = F(\eta - c_k), \qquad c_1 = 0, \quad c_k = c_{k-1} + g_k.

The log odds :math:`\eta` are those of `bayesbias.inference.binomial`; the gaps :math:`g_k` are positive
parameters, which are sampled with the standard deviations (SDs). An answer between two cuts has

.. math:: P(y = k) = F(\eta - c_k) - F(\eta - c_{k+1})
          = F(\eta - c_k) \, F(c_{k+1} - \eta) \, \bigl(1 - e^{-g_{k+1}}\bigr).

So it counts as a *yes* at the cut below and a *no* at the cut above it, with a factor that is free of the
effects. An answer of the lowest or the highest level has one of the two. Given the gaps, a table of
levels is therefore a table of counts: one row a question and cut, with the offset :math:`-c_k`.
Laplace's approximation and the variational bound are those of counts.

*Gradient.* A change :math:`\delta_r` of the offsets moves Laplace's log density, in the symbols of
`bayesbias.inference.binomial`, by

.. math:: \sum_r \delta_r \bigl(y_r - n_r p_r - \tfrac12 [h_r w'_r - W_r (Z S a)_r]\bigr).

For the logarithm of a gap, :math:`\delta_r` is minus the gap in the rows of its cut and of those above. The
factor adds :math:`g / (e^g - 1)` for each answer between its two cuts.

For instance, let K be 3, the gap 2 and the log odds 0.5. The middle level has the probability
:math:`F(0.5) F(1.5) (1 - e^{-2}) = 0.622 \cdot 0.818 \cdot 0.865 = 0.440`, which is
:math:`F(0.5) - F(-1.5) = 0.622 - 0.182`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayesbias.inference.binomial import Binomial
from bayesbias.inference.kernel import prior_constant
from bayesbias.inference.likelihood import normal_effects, numbered_variances, prior_arrays
from bayesbias.inference.unbalanced import NO_NOISE, Layout
from bayesbias.models.design import Design
from bayesbias.models.outcomes import GAPS


@dataclass(frozen=True, eq=False, kw_only=True)
class Ordered(Binomial):
    """The approximate reduction of a table of ordered levels.

    Rows are questions at cuts: `design` has them, with how many answers are above the cut as outcome.

    Attributes
    ----------
    answers : Design
        The design of the answers.
    cut : ndarray of int, shape (rows,)
        The number of the cut of each row, from 0 on.
    place : ndarray of int, shape (gaps,)
        The place of each gap among the log scales; -1 for a number of the model file.
    known : ndarray, shape (gaps,)
        The numbers of the model file.
    between : ndarray, shape (gaps,)
        How many answers lie between the two cuts of each gap.
    """

    answers: Design
    cut: np.ndarray
    place: np.ndarray
    known: np.ndarray
    between: np.ndarray

    @classmethod
    def of(cls, design: Design, weights: np.ndarray | None = None) -> Ordered:
        """Integrate the effects of a design of ordered levels out.

        Raises
        ------
        NotCollapsible
            If the effects are not normal.
        FitError
            If the table takes too much memory or time.
        """
        answers = design.ordered()
        terms = normal_effects(answers)
        at_cuts, cut, counts = _at_cuts(answers)

        numbered = numbered_variances(answers, terms)
        layout = Layout.of(at_cuts)
        priors = prior_arrays(answers)
        constants = [prior_constant(*prior) for prior in zip(*priors, strict=True)]

        scales = numbered.scales
        sizes = [answers.size(name) for name in scales]
        starts = dict(zip(scales, np.cumsum([0, *sizes]), strict=False))
        gaps = [answers.spec.noise[name] for name in GAPS[: len(answers.spec.noise)]]
        place = [int(starts[gap]) if isinstance(gap, str) else -1 for gap in gaps]
        known = [np.nan if isinstance(gap, str) else float(gap) for gap in gaps]
        levels = np.bincount(answers.y.astype(np.int64), minlength=len(gaps) + 2)
        return cls(
            design=at_cuts,
            scales=scales,
            constants=numbered.constants,
            variance_of=numbered.of_entries,
            layout=layout,
            number=layout.numbers(numbered.of_entries),
            noise=NO_NOISE,
            of_rows=numbered.of_rows,
            weights=counts,
            priors=(*priors, np.array(constants)),
            offset=layout.sums(layout.means),
            constant=0.0,
            answers=answers,
            cut=cut,
            place=np.array(place, dtype=np.int64),
            known=np.array(known),
            between=levels[1:-1].astype(float),
        )

    def of_outcome(self, y: np.ndarray) -> Ordered:
        """Return the reduction of other levels of the same answers."""
        again = Ordered.of(replace(self.answers, y=y))
        return replace(again, variational=self.variational)

    def gaps_at(self, theta: np.ndarray) -> np.ndarray:
        """Return the gaps between cuts at log scales (n_theta,)."""
        gaps = self.known.copy()
        sampled = self.place >= 0
        gaps[sampled] = np.exp(theta[self.place[sampled]])
        return gaps

    def _offset_at(self, theta: np.ndarray) -> np.ndarray:
        cuts = np.concatenate([[0.0], np.cumsum(self.gaps_at(theta))])
        return self.offset - cuts[self.cut]

    def _constant_at(self, theta: np.ndarray) -> float:
        return float(self.between @ np.log(-np.expm1(-self.gaps_at(theta))))

    def _moves(self, theta: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """Return the place of each sampled gap, and how its logarithm moves the log odds of rows."""
        gaps = self.gaps_at(theta)
        moves = []
        for number, place in enumerate(self.place):
            if place >= 0:
                moves.append((int(place), -gaps[number] * (self.cut > number)))
        return moves

    def _pulls(self, theta: np.ndarray, weight: np.ndarray) -> np.ndarray:
        pulls = np.zeros((self.layout.pattern.size, self.n_theta))
        for place, moved in self._moves(theta):
            pulls[:, place] = 0.5 * self.layout.products(weight * moved)
        return pulls

    def _add_slopes(self, theta: np.ndarray, of_rows: np.ndarray, gradient: np.ndarray) -> None:
        for place, moved in self._moves(theta):
            gradient[place] += of_rows @ moved
        gaps = self.gaps_at(theta)
        sampled = self.place >= 0
        of_factors = self.between * gaps / np.expm1(gaps)
        gradient[self.place[sampled]] += of_factors[sampled]


def _at_cuts(answers: Design) -> tuple[Design, np.ndarray, np.ndarray]:
    """Return questions at cuts with how many answers are above, the cuts, and how many answers count."""
    columns = [answers.index[name] for name in answers.spec.mu]
    columns += [*answers.covariates.values(), *answers.only.values()]
    codes = np.stack([np.asarray(column, dtype=float) for column in columns])
    _, first, question = np.unique(codes, axis=1, return_index=True, return_inverse=True)

    levels = len(answers.spec.noise) + 2
    shape = len(first), levels
    places = question.ravel() * levels + answers.y.astype(np.int64)
    counts = np.bincount(places, minlength=shape[0] * levels).reshape(shape)
    above, below = counts[:, 1:], counts[:, :-1]

    rows, cut = np.nonzero(above + below)
    at_cuts = replace(answers.of_rows(first[rows]), y=above[rows, cut].astype(float))
    return at_cuts, cut, (above + below)[rows, cut].astype(float)
