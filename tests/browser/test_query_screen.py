"""Screen *Query* in a real browser, on the server that `ragkit demo` starts, as README says."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import psutil
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.browser.ensure_chromium import installed
from tests.servers import wait_until

FLAGS = ("--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync")
TIMEOUT_MS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """A running `ragkit demo`."""

    url: str
    folder: Path
    """Where it was typed: it holds an `app` package of its own, which must not be executed."""
    process: subprocess.Popen[bytes]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return response.status == 200
    except OSError:
        return False


@pytest.fixture(scope="module")
def demo(new_data_dir: Callable[[], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """`ragkit demo` with a fresh home and data folder and no screen, from a folder with a trap."""
    folder = tmp_path_factory.mktemp("somewhere")
    for package in ("app", "ragkit", "evals"):
        (folder / package).mkdir()
        for name in ("__init__.py", "main.py", "resources.py"):
            (folder / package / name).write_text(f"open({str(folder / 'executed')!r}, 'w').close()\n")
    port = free_port()
    script = shutil.which("ragkit", path=str(Path(sys.executable).parent))
    assert script
    ours = ("RAGKIT_", "STREAMLIT_", "DISPLAY", "WAYLAND_DISPLAY")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    home = tmp_path_factory.mktemp("home")  # at its very first start the UI's server would ask for an address
    log = (folder / "log").open("wb")
    running = subprocess.Popen(
        [script, "demo", "--port", str(port)],
        cwd=folder,
        env={**clean, "HOME": str(home), "RAGKIT_DATA_DIR": str(new_data_dir())},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    url = f"http://127.0.0.1:{port}"

    def is_up() -> bool:
        assert running.poll() is None, (folder / "log").read_text(encoding="utf-8", errors="replace")
        return answers(f"{url}/_stcore/health")

    wait_until(is_up, timeout_s=180)
    yield Demo(url=url, folder=folder, process=running)
    children = psutil.Process(running.pid).children(recursive=True)
    running.terminate()
    running.wait(30)
    _, alive = psutil.wait_procs(children, timeout=20)
    log.close()
    assert alive == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    executable = installed()
    assert executable, "no browser: run python -m tests.browser.ensure_chromium"
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=executable, args=[*FLAGS, *(["--no-sandbox"] if is_root else [])]
        )
        yield opened
        opened.close()


@pytest.fixture
def new_page(browser: Browser, demo: Demo) -> Iterator[Callable[[], Page]]:
    """Pages of fresh browser profiles: they share nothing. No page may fail, nor ask anything of another machine."""
    contexts = []
    errors: list[str] = []
    abroad: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(f"{message.text} {message.location['url']}")

    def leaves(url: str) -> bool:
        return not url.startswith((demo.url, demo.url.replace("http", "ws", 1), "data:", "blob:"))

    def make() -> Page:
        context = browser.new_context(locale="en-GB", viewport={"width": 1400, "height": 1600})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.on("pageerror", lambda problem: errors.append(str(problem)))
        page.on("console", note)
        page.on("request", lambda request: abroad.append(request.url) if leaves(request.url) else None)
        return page

    yield make
    for context in contexts:
        context.close()
    assert errors == []
    assert abroad == []


def question(page: Page) -> None:
    """Wait until the screen stands."""
    expect(page.get_by_label("Question", exact=True)).to_be_visible(timeout=TIMEOUT_MS)


def ask(page: Page, text: str) -> None:
    field = page.get_by_label("Question", exact=True)
    field.fill(text)
    field.press("Enter")
    expect(page.locator(".rk-query")).to_be_visible(timeout=TIMEOUT_MS)
    settled(page)


def settled(page: Page) -> None:
    """Wait until the script has run to its end, and see that it did not fail."""
    expect(page.get_by_role("button", name="Download the trace as JSON")).to_be_visible(timeout=TIMEOUT_MS)
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0, timeout=TIMEOUT_MS)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def rows(page: Page) -> list[str]:
    """Rank, path and lines of each ranked row, as the row picker lists them."""
    page.get_by_role("combobox", name=re.compile("Row to read")).click()
    options = page.get_by_role("option")
    expect(options.first).to_be_visible()
    found = options.all_inner_texts()
    page.keyboard.press("Escape")
    return found


def question_shown(page: Page) -> str:
    """The marked question without the kinds written beside its anchors."""
    return str(
        page.locator(".rk-query").evaluate(
            "box => { const copy = box.cloneNode(true);"
            " copy.querySelectorAll('sup').forEach(kind => kind.remove()); return copy.textContent; }"
        )
    )


def test_a_question_finds_ranked_rows_and_its_link_shows_them_again(demo: Demo, new_page: Callable[[], Page]) -> None:
    page = new_page()
    page.goto(f"{demo.url}/?session=demo")
    question(page)
    ask(page, "Сколько хранится посылка?")
    expect(page.get_by_text("docs_summary_generic").first).to_be_visible()
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()
    first = rows(page)
    assert first[0].startswith("1. docs/")
    link = page.url
    assert parse_qs(urlsplit(link).query)["q"] == ["Сколько хранится посылка?"]

    again = new_page()
    again.goto(link)
    settled(again)
    expect(again.get_by_label("Question", exact=True)).to_have_value("Сколько хранится посылка?")
    expect(again.get_by_text("docs_summary_generic").first).to_be_visible()
    assert rows(again) == first


def test_back_goes_from_question_to_question(demo: Demo, new_page: Callable[[], Page]) -> None:
    page = new_page()
    page.goto(f"{demo.url}/?session=demo&policy=spec")
    question(page)
    ask(page, "POST /v1/pickups")
    expect(page.get_by_text("docs_summary_api_endpoint").first).to_be_visible()
    ask(page, "Сколько хранится посылка?")
    expect(page.get_by_text("docs_summary_generic").first).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Question", exact=True)).to_have_value("POST /v1/pickups")
    expect(page.get_by_text("docs_summary_api_endpoint").first).to_be_visible()
    page.go_forward()
    expect(page.get_by_label("Question", exact=True)).to_have_value("Сколько хранится посылка?")


def test_hostile_text_is_shown_as_text(demo: Demo, new_page: Callable[[], Page]) -> None:
    hostile = (
        "<script>document.title='owned'</script> <img src=x onerror=\"document.title='owned'\"> ![p](/x.png) **b**"
    )
    page = new_page()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(f"{demo.url}/?{urlencode({'session': 'demo', 'q': hostile})}")
    settled(page)
    assert question_shown(page) == hostile
    assert page.title() != "owned"
    assert page.locator(".rk-query img, .rk-query script, .rk-query strong").count() == 0
    assert [url for url in fetched if url.endswith(("/x.png", "/x"))] == []


def test_an_example_and_the_other_language(demo: Demo, new_page: Callable[[], Page]) -> None:
    page = new_page()
    page.goto(demo.url)
    question(page)
    page.get_by_role("button", name="POST /v1/pickups").click()
    settled(page)
    expect(page.get_by_text("docs_summary_api_endpoint").first).to_be_visible()
    page.get_by_role("radio", name="ru").or_(page.get_by_role("button", name="ru", exact=True)).first.click()
    expect(page.get_by_label("Вопрос", exact=True)).to_have_value("POST /v1/pickups", timeout=TIMEOUT_MS)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_a_package_named_app_in_the_current_folder_is_not_executed(demo: Demo, new_page: Callable[[], Page]) -> None:
    page = new_page()
    page.goto(f"{demo.url}/?session=demo&q=parcel")
    settled(page)
    assert not (demo.folder / "executed").exists()
