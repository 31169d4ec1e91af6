"""Coverage on pools of real words chosen to be hard: three classes, and changes of debiased vectors.

All words are in `minilm-static`. ``python -m benchmarks.harder_pools --tables 200``; coverage is to be compared with that of a
flawless method.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.models.spec import load_model
from bayesbias.simulation.coverage import answers_of_fit
from bayesbias.simulation.grid import moments, t_intervals
from bayesbias.simulation.real_words import Pool, drawn_pool
from bayesbias.studies.debiasing.comparison import fit_changes

VECTORS = "minilm-static"
RELIGION = {
    "christian": (
        "church bible priest christ gospel pastor cathedral baptism christmas easter pope bishop catholic protestant "
        "jesus trinity sermon chapel monk nun apostle christian disciple parish clergy crucifix vatican",
        "conservative judgemental familial pious traditional moral charitable prudish hypocritical strict humble "
        "evangelical devout puritanical homophobic forgiving righteous preachy intolerant bigoted wholesome rural "
        "naive hopeful sanctimonious",
    ),
    "muslim": (
        "mosque quran imam muhammad ramadan mecca islam muslim allah hijab sheikh caliph koran sharia ayatollah hajj "
        "minaret burqa mullah sunni shiite fatwa jihad halal muezzin medina eid",
        "violent terrorist dirty uneducated radical extremist oppressive fanatic dangerous backward angry misogynist "
        "militant foreign hostile fundamentalist aggressive bomber poor veiled strange immigrant barbaric submissive "
        "threatening hateful",
    ),
    "jewish": (
        "synagogue torah rabbi moses hanukkah passover judaism jew israel kosher talmud yiddish hebrew zionism "
        "menorah sabbath kabbalah hasidic orthodox exodus jerusalem sinai cantor shalom zion",
        "greedy cheap hairy liberal rich intellectual clever stingy wealthy shrewd neurotic cunning educated frugal "
        "manipulative powerful bookish ambitious banker lawyer nosed pushy secretive successful funny anxious",
    ),
}
SURNAMES = {
    "hispanic": (
        "ruiz alvarez vargas castillo gomez soto gonzalez sanchez rivera mendoza martinez torres rodriguez perez "
        "lopez medina diaz garcia castro cruz fernandez ramirez morales ortiz",
        "mexico spain taco burrito tequila salsa havana peru chile madrid flamenco sombrero bolivia tortilla "
        "guacamole cuba barcelona venezuela fiesta siesta latino colombia argentina mariachi",
    ),
    "chinese": (
        "chung liu wong huang ng hu chu chen lin liang wang wu yang tang chang hong li zhang zhao xu sun zhou lam "
        "cheung",
        "china beijing shanghai rice noodle dumpling silk panda dragon mandarin kung confucius taiwan bamboo tofu "
        "jade porcelain tea wok chopsticks hongkong dynasty buddhism lantern",
    ),
    "russian": (
        "gurin minsky sokolov markov maslow novikoff mishkin smirnov orloff ivanov sokoloff davidoff savin romanoff "
        "babinski sorokin levin pavlov rodin agin kuznetsov volkov petrov morozov",
        "russia moscow vodka siberia kremlin caviar ballet soviet tsar borscht cossack lenin stalin communism sputnik "
        "bear chess petersburg ukraine babushka matryoshka fur tundra ruble",
    ),
}
# Written and first drawn from after the terms of `cells` were settled on the pools above.
GIVEN_NAMES = {
    "italian": (
        "giovanni giuseppe marco paolo luca antonio francesco alessandro matteo lorenzo giulia chiara francesca paola "
        "giovanna lucia caterina bianca silvia elena stefano roberto vincenzo carlo pietro",
        "italy rome milan venice naples pasta pizza espresso opera mafia vatican tuscany sicily gondola mozzarella "
        "gelato renaissance vespa ferrari prosecco risotto florence lasagna chianti",
    ),
    "german": (
        "hans klaus jurgen wolfgang heinrich friedrich dieter helmut gunther manfred ursula helga ingrid gisela "
        "brigitte greta heidi otto ernst karl rudolf werner gerhard horst uwe",
        "germany berlin munich hamburg beer sausage bavaria autobahn pretzel sauerkraut prussia rhine bundestag "
        "oktoberfest engineering punctual philosophy porsche kaiser castle frankfurt cologne saxony strudel",
    ),
    "japanese": (
        "hiroshi takashi kenji yuki akira satoshi kazuo haruki makoto daisuke yoko sakura naoko keiko michiko ayumi "
        "emiko tomoko yumi reiko taro ichiro shigeru noboru masako",
        "japan tokyo osaka kyoto sushi samurai ninja geisha kimono anime manga sake karate origami shogun tofu ramen "
        "bonsai haiku zen tempura sumo toyota nintendo",
    ),
}
NAMES = {
    "male": (
        "James John Robert Michael William David Richard Joseph Thomas Charles Christopher Daniel Matthew Anthony "
        "Mark Donald Steven Paul Andrew Joshua Kenneth Kevin Brian George Edward Ronald Timothy Jason Jeffrey Ryan "
        "Jacob Gary Nicholas Eric Jonathan Stephen Larry Justin Scott Brandon",
        "executive management professional corporation salary office business career company job promotion boss "
        "manager profit market industry investment finance economy budget contract meeting conference client sales "
        "firm bank trade president director",
    ),
    "female": (
        "Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Nancy Lisa Margaret Betty Sandra "
        "Ashley Dorothy Kimberly Emily Donna Michelle Carol Amanda Melissa Deborah Stephanie Rebecca Laura Sharon "
        "Cynthia Kathleen Amy Angela Shirley Anna Brenda Pamela Emma Nicole Helen",
        "home parents children family marriage wedding relatives mother baby child kids daughter dinner kitchen house "
        "household birth bedroom holiday garden love care pregnancy divorce nursery cousin husband wife son sister",
    ),
}
PAIRS = (
    ("she", "he"),
    ("woman", "man"),
    ("girl", "boy"),
    ("mother", "father"),
    ("female", "male"),
    ("Mary", "John"),
)
TAKEN = 0.7  # of the direction between the words of these pairs


def listed(classes: dict[str, tuple[str, str]]) -> bb.WordList:
    """Return a word list of the classes; what is a protected word of one is no attribute of another."""
    protected = {word for words, _ in classes.values() for word in words.split()}
    return bb.load_wordlist(
        {
            name: {
                "protected": words.split(),
                "attributes": [word for word in stereotypes.split() if word not in protected],
            }
            for name, (words, stereotypes) in classes.items()
        },
        controls="2022",
    )


def without_a_part(pool: Pool) -> np.ndarray:
    """Return the distances of a pool after most of the direction between the words of `PAIRS` is taken out of all vectors."""
    grid = pool.grid
    words, attributes = list(grid.words), list(grid.attributes)
    vectors = bb.load_embedding(
        VECTORS, words=[*words, *attributes, *(word for pair in PAIRS for word in pair)]
    )

    def unit(rows: np.ndarray) -> np.ndarray:
        return rows / np.linalg.norm(rows, axis=-1, keepdims=True)

    def of(names: Sequence[str]) -> np.ndarray:
        return unit(np.asarray(vectors.vectors_of(list(names)), float))

    first, second = (of(side) for side in zip(*PAIRS, strict=True))
    direction = np.linalg.svd(first - second, full_matrices=False)[2][0]
    moved = [
        unit(rows - TAKEN * np.outer(rows @ direction, direction))
        for rows in (of(words), of(attributes))
    ]
    return 1 - moved[0] @ moved[1].T


def of_changes(tables: int, seed: int) -> pd.DataFrame:
    """Return how often intervals of `change`, and by moments, hold the change of a pool."""
    pool = drawn_pool(VECTORS, listed(NAMES), words=8, attributes=8, human=15, neutral=25)
    changes = dataclasses.replace(pool.grid, distances=without_a_part(pool) - pool.grid.distances)
    pool = Pool(changes, pool.words, pool.attributes)
    truth, flawless, ideal = pool.values(), pool.flawless(0.89, seed), pool.ideal_widths(0.89)
    spec, rows = load_model("change"), []
    for number in range(tables):
        sequence = np.random.SeedSequence([seed, number])
        part = pool.grid.part(*pool.places(np.random.default_rng(sequence)))
        own = int(sequence.generate_state(1)[0])
        settings = {"draws": 500, "tune": 500, "chains": 2, "seed": own, "engine": "quick"}
        frame = part.frame().rename(columns={"distance": "change"})
        fit = fit_changes(frame, spec, {**settings, "pointwise": False, "progress": False}, "x")[0]
        ends = {
            key: (answer["low"], answer["high"])
            for key, answer in answers_of_fit(fit, 0.89, ["overall", "class", "attribute_set"])
        }
        of_moments = t_intervals(part, pool.weights, 0.89, moments)
        for method, of in (
            ("change", ends),
            ("moments", {key: end[1:] for key, end in of_moments.items()}),
        ):
            rows += [
                (*key, method, low <= truth[key] <= high, (high - low) / ideal[key], flawless[key])
                for key, (low, high) in of.items()
                if key in truth
            ]
    columns = ["level", "name", "contrast", "method", "coverage", "relative_width", "flawless"]
    return (
        pd.DataFrame(rows, columns=columns)
        .groupby(columns[:4], sort=False, as_index=False)
        .mean()
        .assign(tables=tables)
    )


def main(arguments: Sequence[str] = ()) -> None:
    """Print coverage by method, and the rows farthest below a flawless method."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    for name, classes, sizes in (
        ("religion", RELIGION, {"words": 5, "attributes": 4}),
        ("religion, more words", RELIGION, {"words": 8, "attributes": 8}),
        ("surnames", SURNAMES, {"words": 5, "attributes": 5}),
        ("surnames, more words", SURNAMES, {"words": 10, "attributes": 8}),
        ("given names", GIVEN_NAMES, {"words": 5, "attributes": 5}),
        ("given names, more words", GIVEN_NAMES, {"words": 10, "attributes": 8}),
    ):
        report = bb.coverage_on_pools(
            VECTORS,
            listed(classes),
            **sizes,
            human=15,
            neutral=30,
            tables=asked.tables,
            methods=["default", "moments"],
            seed=asked.seed,
        )
        show(f"{name}, three classes, {sizes}", report)
    show(
        "male and female names, a part of a direction taken out: changes",
        of_changes(asked.tables, asked.seed),
    )


def show(title: str, report: pd.DataFrame) -> None:
    """Print means by level and method, and the worst rows of the model."""
    report = report.assign(below=report["coverage"] - report["flawless"])
    print(f"{title}: {report['tables'].iloc[0]} tables")
    of_level = report.groupby(["level", "method"], sort=False)
    print(of_level[["coverage", "flawless", "below", "relative_width"]].mean().round(3).to_string())
    model = report[report["method"] == report["method"].iloc[0]].sort_values("below")
    columns = ["level", "name", "contrast", "coverage", "flawless", "relative_width"]
    print(model[columns].head(6).round(3).to_string(index=False))
    print()


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
