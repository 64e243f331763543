from .orders import Order, place
from shop.money import *

__all__ = ["Order", "place", "Money"]
