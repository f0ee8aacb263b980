"""Elapsed times of a machine that is noisy, drifts and is disturbed now and then, with known effects.

Trials run in the order of a real plan.
"""

from collections.abc import Mapping
from itertools import islice, product
from typing import TYPE_CHECKING

from assay.model.base import Frozen
from assay.plan.grid import Combination, Level
from assay.plan.order import blocks
from assay.stats.sample import MACHINE, TrialSample

if TYPE_CHECKING:
    from numpy.random import Generator

SLOW_SHARE = 0.2


class FakeTimes(Frozen):
    """`factors` are how many times as long a trial takes at each of their levels; `together` at some levels at once.

    `noise` is the standard deviation of each time's logarithm, which is Student's with `tails` degrees of freedom where
    that is not 0, else normal; `noises` are those of some levels in its place. A share of `states` (0 to 1) of its variance comes from a slow state, in which a share of
    `slow_share` of the trials is; the rest of it correlates with the trial before by `autocorrelation`. `drift` is what
    is added to the logarithm with each trial; of all trials a share of `disturbed` takes `disturbed_times` as long.
    `mirrored` is the order there and back.
    """

    factors: Mapping[str, Mapping[str, float]]
    together: Mapping[tuple[str, ...], float] = {}
    noise: float = 0.04
    noises: Mapping[str | tuple[str, ...], float] = {}
    tails: int = 0
    states: float = 0.0
    slow_share: float = SLOW_SHARE
    autocorrelation: float = 0.0
    drift: float = 0.001
    disturbed: float = 0.02
    disturbed_times: float = 1.4
    base_s: float = 60.0
    machine: str = "A"
    mirrored: bool = False

    def samples(self, repetitions: int, seed: int) -> list[TrialSample]:
        """The trials in the order in which they ran; the same seed gives the same ones, whatever their number."""
        import numpy as np

        source = np.random.default_rng(seed)
        combinations = [
            Combination({name: Level(level, {name: level}) for name, level in zip(self.factors, levels, strict=True)})
            for levels in product(*self.factors.values())
        ]
        found: list[TrialSample] = []
        before = self._usual(source) if self.autocorrelation else 0.0
        for repetition, block in enumerate(
            islice(blocks(combinations, seed, mirrored=self.mirrored), repetitions), start=1
        ):
            for combination in block:
                levels = tuple(level.value for level in combination.levels.values())
                before, log = self._noise(source, before)
                log *= self._deviation(levels)
                log += self.drift * len(found)
                times = self.disturbed_times if source.random() < self.disturbed else 1.0
                factors = (*zip(self.factors, levels, strict=True), (MACHINE, self.machine))
                elapsed_s = self.base_s * self._effect(levels) * times * float(np.exp(log))
                found.append(TrialSample(f"{len(found) + 1:04d}", factors, repetition, elapsed_s))
        return found

    def _usual(self, source: "Generator") -> float:
        """Of variance 1."""
        scale = (1 - 2 / self.tails) ** 0.5 if self.tails else 1.0
        return scale * float(source.standard_t(self.tails) if self.tails else source.standard_normal())

    def _noise(self, source: "Generator", before: float) -> tuple[float, float]:
        """What the next trial's noise correlates with, and this one's, of variance 1."""
        usual = self.autocorrelation * before + (1 - self.autocorrelation**2) ** 0.5 * self._usual(source)
        if not self.states:
            return usual, usual
        share = self.slow_share
        state = (float(source.random() < share) - share) / (share * (1 - share)) ** 0.5
        return usual, float(self.states**0.5 * state + (1 - self.states) ** 0.5 * usual)

    def _deviation(self, levels: tuple[str, ...]) -> float:
        for noisy, deviation in self.noises.items():
            if set((noisy,) if isinstance(noisy, str) else noisy) <= set(levels):
                return deviation
        return self.noise

    def _effect(self, levels: tuple[str, ...]) -> float:
        effect = 1.0
        for own, level in zip(self.factors.values(), levels, strict=True):
            effect *= own[level]
        for some, times in self.together.items():
            effect *= times if set(some) <= set(levels) else 1.0
        return effect
