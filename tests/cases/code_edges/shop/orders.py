from __future__ import annotations

import shop.money
from shop.base import Meta, Store, audited, named
from shop.money import RATES, Money, parse as read_money

LAST = None


class Order(metaclass=Meta):
    def __init__(self, total: Money):
        self.total = total
        self.extra = Money(0)
        self.store = Orders()

    @property
    def sum(self) -> Money:
        return self.total.add(self.extra)

    @audited
    def keep(self):
        return self.store.save(self)

    def twice(self):
        return self.sum.add(self.sum)


class Orders(Store):
    @named("load")
    def load(self, item):
        super()._check(item)
        return shop.money.parse(item)

    def again(self, item):
        self._check(item)
        return self.wallet.add(item)


class Bulk(Orders):
    def load(self, item):
        return super().load(item)


async def fetch() -> Order:
    return Order(Money.zero())


async def place(text, make=None):
    global LAST
    money = read_money(text)
    money.add(Money(1))
    order = await fetch()
    order.keep()
    LAST = order
    alias = shop.money.parse
    alias("1")
    make(text)

    def later():
        return order.twice()

    for item in [order]:
        item.keep()
    return later


def known():
    print(len(RATES))
    return RATES


def shadow(Money):
    return Money(1)
