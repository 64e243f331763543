from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragkit.indexing.passages import Block, Bound, Lines, cut, cut_line

BOUND = Bound(words=10, slack_words=2, lines=6, chars=200)


def _paragraph(words: int) -> str:
    return " ".join(["word"] * words)


def test_neighbours_are_joined_while_they_fit() -> None:
    source = Lines("\n\n".join([_paragraph(4), _paragraph(4), _paragraph(6)]))
    passages = cut(source, [Block(0, 1), Block(2, 3), Block(4, 5)], BOUND)
    assert [(passage.start, passage.end) for passage in passages] == [(0, 3), (4, 5)]


def test_a_small_rest_is_taken_in() -> None:
    source = Lines("\n\n".join([_paragraph(5), _paragraph(5), _paragraph(2)]))
    passages = cut(source, [Block(0, 1), Block(2, 3), Block(4, 5)], BOUND)
    assert [(passage.start, passage.end) for passage in passages] == [(0, 5)]


def test_a_block_that_fits_is_not_torn() -> None:
    source = Lines("\n".join([_paragraph(3)] * 6))
    passages = cut(source, [Block(0, 3), Block(3, 6)], BOUND)
    assert [(passage.start, passage.end) for passage in passages] == [(0, 3), (3, 6)]


def test_a_long_block_is_torn_at_its_parts() -> None:
    source = Lines("\n".join([_paragraph(6), _paragraph(3), _paragraph(6), _paragraph(3)]))
    passages = cut(source, [Block(0, 4, (Block(0, 2), Block(2, 4)))], BOUND)
    assert [(passage.start, passage.end) for passage in passages] == [(0, 2), (2, 4)]


def test_a_long_line_is_cut_after_white_space() -> None:
    line = _paragraph(24)
    passages = cut(Lines(line), [Block(0, 1)], BOUND)
    assert [len(passage.text.split()) for passage in passages] == [10, 10, 4]
    assert "".join(passage.text for passage in passages) == line
    assert all(passage.is_cut and (passage.start, passage.end) == (0, 1) for passage in passages)


def test_an_empty_text_has_no_lines() -> None:
    assert len(Lines("")) == 0
    assert cut(Lines("\n\n"), [Block(0, 2)], BOUND) == []


@given(st.text(max_size=500))
def test_pieces_of_a_line_are_the_line(line: str) -> None:
    pieces = list(cut_line(line, BOUND))
    assert "".join(pieces) == line
    assert all(0 < len(piece) <= BOUND.chars for piece in pieces)


@given(st.lists(st.text("ab \t", max_size=80), max_size=30))
def test_every_line_is_in_exactly_one_passage(lines: list[str]) -> None:
    text = "\n".join(lines)
    source = Lines(text)
    passages = cut(source, [Block(0, len(source))], BOUND, keep_blank=True)
    spans = [(passage.start, passage.end) for passage in passages]
    assert sorted({line for span in spans for line in range(*span)}) == list(range(len(source)))
    whole = [passage for passage in passages if not passage.is_cut]
    assert all(source.text(passage.start, passage.end) == passage.text for passage in whole)
