"""Arrays as COPY takes them are the bytes that psycopg itself would send."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from psycopg.adapt import PyFormat, Transformer
from psycopg.types.numeric import Int8

from ragkit.postgres.upserter import int8_array


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=40))
def test_bytes_of_psycopg(values: list[int]) -> None:
    given_values = [Int8(value) for value in values]
    dumper = Transformer().get_dumper(given_values, PyFormat.BINARY)
    assert int8_array(values) == bytes(dumper.dump(given_values))
