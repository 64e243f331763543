from dataclasses import dataclass

RATES = {"EUR": 100}
DEFAULT = "EUR"


@dataclass
class Money:
    amount: int

    def add(self, other: "Money") -> "Money":
        return Money(self.amount + other.amount)

    @classmethod
    def zero(cls):
        return cls(0)

    @staticmethod
    def check(amount):
        return _positive(amount)


def _positive(amount):
    return amount > 0


def set_rate(code, rate):
    RATES[code] = rate


def forget():
    global DEFAULT
    DEFAULT = ""
    RATES.clear()


def rate(code=None):
    return RATES.get(code or DEFAULT)


def parse(text) -> Money:
    return Money(int(text))
