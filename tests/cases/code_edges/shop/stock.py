from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Protocol, overload

import shop.base as base
from shop import Order as Bought
from shop.facade import *

LEVELS = []


class Size(Enum):
    SMALL = 1


class Keeper(Protocol):
    def keep(self): ...


@dataclass
class Shelf:
    order: Bought
    keeper: Keeper
    size: Size = Size.SMALL
    spare: "Shelf | None" = None
    store: base.Store = field(default_factory=base.Store)

    def fill(self):
        self.order.keep()
        self.store.save(1)
        self.keeper.keep()
        return self.spare.fill()

    @property
    def level(self):
        return self._level

    @level.setter
    def level(self, value):
        LEVELS.append(value)
        self._level = check(value)

    @classmethod
    def empty(cls):
        return cls(None, None)

    class Label:
        def show(self):
            return Shelf.empty()


@overload
def check(value: int) -> int: ...
@overload
def check(value: str) -> str: ...
def check(value):
    return value


def fill_all(shelves: list[Shelf]):
    first = Shelf.empty()
    first.fill()
    with make() as facade:
        facade.build()
    label = Shelf.Label()
    label.show()
    again = partial(check, 1)
    if (found := Shelf(None, None)) is not None:
        found.fill()
    return [shelf.fill() for shelf in shelves]
