import abc

from shop import money as m


def audited(function):
    return function


def named(name):
    def wrap(function):
        return function

    return wrap


class Store(abc.ABC):
    wallet: m.Money

    def save(self, item):
        self._check(item)
        return self.load(item)

    def load(self, item):
        raise NotImplementedError

    def _check(self, item):
        return m.rate(item)


class Meta(type):
    pass
