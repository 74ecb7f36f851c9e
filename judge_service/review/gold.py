"""Reviewers' labels put into gold items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from judge_service.errors import ConfigError
from judge_service.gold.item import GoldItem, GoldSet
from judge_service.review.key import Entry, Key
from judge_service.review.labels import Labels

REVIEWS = "reviews"
Review = tuple[str, Mapping[str, Labels]]
"""A reviewer's name and the labels by the entries' names."""


@dataclass(slots=True, kw_only=True)
class TakenIn:
    """The items of the new gold set. ``labelled`` of the sheet's items got labels, ``added`` were
    in no gold set before, ``blank`` nobody filled in.
    """

    items: list[GoldItem] = field(default_factory=list)
    labelled: int = 0
    added: int = 0
    blank: int = 0


def take_in(
    key: Key, reviews: Sequence[Review], gold: GoldSet | None, *, replacing: bool = False
) -> TakenIn:
    """Put labels into ``gold``, one more annotator for each reviewer; items that it lacks follow.

    ``replacing`` drops the labels that were there on the criteria that reviewers labelled. Without
    a gold set, the reviewed items make one. Raises ConfigError where an item was changed since the
    sheet was made, is of another kind, or has this reviewer's labels from this sheet already.
    """
    known = {} if gold is None else {item.id: item for item in gold.items}
    made: dict[str, GoldItem] = {}
    taken = TakenIn()
    for name, entry in key.entries.items():
        given = [(who, labels[name]) for who, labels in reviews if name in labels]
        if not given:
            taken.blank += 1
            continue
        item = known.get(entry.item.id)
        taken.labelled += 1
        taken.added += item is None
        made[entry.item.id] = _labelled(item or _bare(entry, gold), entry, given, key, replacing)
    taken.items = [made.pop(item.id, item) for item in known.values()] + list(made.values())
    return taken


def _bare(entry: Entry, gold: GoldSet | None) -> GoldItem:
    """An item that is in no gold set yet; labels it had elsewhere stay where no set is given."""
    return entry.item if gold is None else replace(entry.item, labels={}, choices=())


def _labelled(
    item: GoldItem,
    entry: Entry,
    given: Sequence[tuple[str, Labels]],
    key: Key,
    replacing: bool,
) -> GoldItem:
    if item.digest != entry.item.digest:
        raise ConfigError(
            f"item {item.id!r} was changed since the sheet was made; its labels are about another "
            "text"
        )
    metadata = dict(item.metadata or {})
    before = metadata.get(REVIEWS, [])
    before = before if isinstance(before, list) else [before]
    stamps = [f"{key.id}/{who}" for who, _ in given]
    again = [stamp for stamp in stamps if stamp in before]
    if again and not replacing:
        raise ConfigError(
            f"item {item.id!r} has the labels of {again[0].partition('/')[2]!r} from this sheet "
            "already; --replace takes what is on the sheet now"
        )
    metadata[REVIEWS] = [*dict.fromkeys([*([] if replacing else before), *stamps])]
    choices = tuple(labels.choice for _, labels in given if labels.choice is not None)
    points = {
        criterion: new
        for criterion in key.scales
        if (new := tuple(float(p) for _, x in given if (p := x.points.get(criterion)) is not None))
    }
    if replacing:
        return replace(
            item, labels={**item.labels, **points}, choices=choices or item.choices,
            metadata=metadata,
        )  # fmt: skip
    return replace(
        item,
        labels={
            **item.labels,
            **{name: (*item.labels.get(name, ()), *new) for name, new in points.items()},
        },
        choices=(*item.choices, *choices),
        metadata=metadata,
    )
