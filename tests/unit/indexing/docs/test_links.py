"""What is a link in a line, and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.indexing.docs.links import link_targets


@pytest.mark.parametrize(
    ("line", "targets"),
    [
        ("[a](b.md) and [c](<d e.md> 'title')", ["b.md", "d e.md"]),
        ("[a](b.md) [again](b.md)", ["b.md"]),
        ("![picture](p.png) and [picture](q.svg)", []),
        ("[![badge](badge.svg)](LICENSE)", ["LICENSE"]),
        ("[a number](not the first one)", []),
        ("`[a](b.md)` and [`code`](c.md)", ["c.md"]),
        ("[wiki](Lock_(door).md)", ["Lock_(door).md"]),
        ("[ref]: ../a.md 'Title'", ["../a.md"]),
        ("[ref]: [KEP", []),
        ('see <a class="x" href="./r.mdx">this</a>', ["./r.mdx"]),
        ('[k]({{< relref "./K.md" >}}) [l]({% link _posts/a.md %})', ["./K.md", "_posts/a.md"]),
        ('<a href="{{ sponsor.url }}">x</a> [y]({{site.url}}/y.md)', ["{{site.url}}/y.md"]),
        (":doc:`guide/a` and :doc:`text <b>`", ["guide/a", "b"]),
        ("nothing (here) [at all]", []),
    ],
)
def test_targets_of_a_line(line: str, targets: list[str]) -> None:
    assert list(link_targets(line)) == targets


@given(st.text(alphabet="[]()<>!`:{}\"' a.m#|/-", max_size=200))
def test_any_line_has_targets_of_itself_alone(line: str) -> None:
    assert all(target in line for target in link_targets(line))
