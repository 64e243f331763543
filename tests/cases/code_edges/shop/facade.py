import shop
from . import Money, place
from .orders import Bulk as _Bulk


class Facade:
    handlers = {}
    bulk = _Bulk()

    def __init__(self, orders: shop.orders.Orders | None = None):
        self._orders = orders or _Bulk()
        self._money = Money(2)

    async def buy(self, text):
        await place(text)
        self._orders.again(text)
        self._money.add(self.bulk)
        return self.bulk.save(text)

    def dispatch(self, name):
        return self.handlers[name](name)

    def build(self):
        return shop.Order(shop.money.Money(1)).keep()


def register(facade: "Facade"):
    with make() as one:
        one.build()
    return [facade.build() for _ in range(2)]


def make() -> Facade:
    return Facade()


if __name__ == "__main__":
    register(make())
