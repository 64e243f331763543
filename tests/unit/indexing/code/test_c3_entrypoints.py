from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
import yaml

import tests
from ragkit.document import RagDocument, SourceFile, embedded_text
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.layers import ATTRIBUTES, Layer

Make = Callable[[str, str], SourceFile]
CORPUS = Path(tests.__file__).parent.parent / "datasets" / "demo" / "corpus"

FASTAPI = '''\
from typing import Annotated
from fastapi import APIRouter, Depends, FastAPI
from pydantic import BaseModel

V1 = "/v1"
router = APIRouter(prefix=V1 + "/orders", tags=["orders"], dependencies=[Depends(get_token)])
app = FastAPI()
app.include_router(router, prefix="/api")


class NewOrder(BaseModel):
    total: int


@router.post("/{shop_id}", response_model=Order, tags=["write"])
async def create(shop_id: int, new: NewOrder, user: Annotated[User, Depends(current_user)]):
    """Create an order. And more."""


@app.get("/health")
def health() -> dict[str, str]: ...


@app.websocket("/ws")
async def ws(socket): ...


app.add_api_route("/late", health, methods=["GET", "HEAD"])
'''


def _entries(code: CodeIndexingPipeline, source: Make, text: str, path: str = "src/shop/a.py") -> list[RagDocument]:
    return [row for row in code.index_file(source(path, text)).rows if row.layer is Layer.C3_ENTRYPOINTS]


def _short(rows: list[RagDocument]) -> list[tuple[object, ...]]:
    return [
        (
            row.attributes["entry_type"],
            row.attributes["framework"],
            row.title,
            cast("str", row.attributes["handler_symbol_id"] or "").rpartition("::")[2],
            row.line_start,
            row.line_end,
        )
        for row in rows
    ]


def test_routes_of_fastapi(code: CodeIndexingPipeline, source: Make) -> None:
    rows = _entries(code, source, FASTAPI)
    assert _short(rows) == [
        ("http_route", "fastapi", "POST /api/v1/orders/{shop_id}", "create", 15, 16),
        ("http_route", "fastapi", "GET /health", "health", 20, 21),
        ("websocket", "fastapi", "/ws", "ws", 24, 25),
        ("http_route", "fastapi", "GET,HEAD /late", "health", 28, 28),
    ]
    assert rows[0].attributes == {
        "lang": "python",
        "entry_id": "src/shop/a.py::create@http_route:POST /api/v1/orders/{shop_id}",
        "entry_type": "http_route",
        "framework": "fastapi",
        "route_or_command": "/api/v1/orders/{shop_id}",
        "handler_symbol_id": "src/shop/a.py::create",
        "evidence.path": "src/shop/a.py",
        "evidence.start_line": 15,
        "evidence.end_line": 16,
        "http.methods": ["POST"],
        "http.auth": "current_user",
        "request_model": "NewOrder",
        "response_model": "Order",
        "cli.args_schema": None,
        "task.queue": None,
        "task.cron": None,
        "tags": ["orders", "write"],
        "lang_payload": {"router": "app"},
    }
    assert set(rows[0].attributes) == set(ATTRIBUTES[Layer.C3_ENTRYPOINTS]) - {"repo_id", "commit_sha", "text"}
    assert rows[0].context == (
        "fastapi http endpoint route handler POST /api/v1/orders/{shop_id} api v1 orders shop id create write new order"
        " Create an order."
    )
    assert rows[0].names == ("POST /api/v1/orders/{shop_id}", "/api/v1/orders/{shop_id}")
    assert (embedded_text(rows[0]) or "").endswith(
        "create(shop_id: int, new: NewOrder, user: Annotated[User, Depends(current_user)]):"
    )
    assert [row.attributes["response_model"] for row in rows] == ["Order", "dict[str, str]", None, None]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "from fastapi import APIRouter\nr = APIRouter(prefix='/a')\n@r.get('')\ndef f(): ...\n",
            [("http_route", "fastapi", "GET /a", "f", 3, 4)],
        ),
        (
            "import fastapi\nfrom .api import router\n@router.delete('/x')\ndef f(): ...\n",
            [("http_route", "fastapi", "DELETE /x", "f", 3, 4)],
        ),
        (
            "from flask import Blueprint\nbp = Blueprint('b', __name__, url_prefix='/b')\n"
            "@bp.route('/x/<int:i>', methods=['GET', 'POST'])\n@login_required\ndef f(i): ...\n",
            [("http_route", "flask", "GET,POST /b/x/<int:i>", "f", 3, 5)],
        ),
        (
            "from flask import Flask\napp = Flask(__name__)\ndef f(): ...\napp.add_url_rule('/x', 'x', f)\n",
            [("http_route", "flask", "GET /x", "f", 4, 4)],
        ),
        (
            "from starlette.routing import Route, WebSocketRoute\nasync def f(r): ...\n"
            "routes = [Route('/x', f, methods=['PUT']), WebSocketRoute('/w', f)]\n",
            [
                ("http_route", "starlette", "PUT /x", "f", 3, 3),
                ("websocket", "starlette", "/w", "f", 3, 3),
            ],
        ),
        (
            "from aiohttp import web\nroutes = web.RouteTableDef()\n@routes.get('/x')\nasync def f(r): ...\n"
            "app = web.Application()\napp.router.add_post('/y', f)\napp.add_routes([web.put('/z', f)])\n"
            "app.router.add_route('DELETE', '/d', f)\n",
            [
                ("http_route", "aiohttp", "GET /x", "f", 3, 4),
                ("http_route", "aiohttp", "POST /y", "f", 6, 6),
                ("http_route", "aiohttp", "PUT /z", "f", 7, 7),
                ("http_route", "aiohttp", "DELETE /d", "f", 8, 8),
            ],
        ),
        (
            "from django.urls import include, path\nfrom . import views\n"
            "urlpatterns = [path('a/<int:pk>/', views.detail), path('b/', include('b.urls')),\n"
            "  path('c/', views.C.as_view(), name='c')]\n",
            [
                ("http_route", "django", "/a/<int:pk>/", "", 3, 3),
                ("http_route", "django", "/c/", "", 4, 4),
            ],
        ),
        ("import respx, fastapi\n@respx.get('/x')\ndef f(): ...\n", []),
        ("@app.get('/x')\ndef f(): ...\n", []),
        ("import fastapi\ncache.get('/x')\n", []),
    ],
)
def test_routes_of_other_frameworks(
    code: CodeIndexingPipeline, source: Make, text: str, found: list[tuple[object, ...]]
) -> None:
    assert _short(_entries(code, source, text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "import typer\napp = typer.Typer()\nsub = typer.Typer()\napp.add_typer(sub, name='user')\n"
            "@sub.command('add')\ndef f(name: str, age: int = 3): ...\n@app.command()\ndef do_it(): ...\n",
            [("cli_command", "typer", "user add", "f", 5, 6), ("cli_command", "typer", "do-it", "do_it", 7, 8)],
        ),
        (
            "import click\n@click.group()\ndef cli(): ...\n@cli.group()\ndef db(): ...\n"
            "@db.command()\n@click.option('--force', is_flag=True, help='No question.')\ndef drop_all(force): ...\n",
            [
                ("cli_command", "click", "cli", "cli", 2, 3),
                ("cli_command", "click", "db", "db", 4, 5),
                ("cli_command", "click", "db drop-all", "drop_all", 6, 8),
            ],
        ),
        (
            "import argparse\ndef run(a): ...\ndef main():\n    p = argparse.ArgumentParser(prog='tool')\n"
            "    s = p.add_subparsers()\n    q = s.add_parser('go', help='Go on.')\n"
            "    q.add_argument('--fast', '-f', type=int, default=1)\n    q.set_defaults(func=run)\n",
            [("cli_command", "argparse", "tool", "main", 4, 4), ("cli_command", "argparse", "go", "run", 6, 6)],
        ),
        (
            "from django.core.management.base import BaseCommand\n"
            "class Command(BaseCommand):\n    def handle(self): ...\n",
            [("cli_command", "django", "a", "Command.handle", 2, 2)],
        ),
        (
            "def main(): ...\nif __name__ == '__main__':\n    main()\n",
            [("main", None, "python src/shop/a.py", "main", 2, 3)],
        ),
        (
            "from celery import Celery, shared_task\napp = Celery()\n"
            "@app.task(queue='slow', name='t.f')\ndef f(): ...\n"
            "@shared_task\ndef g(): ...\n",
            [("task", "celery", "t.f", "f", 3, 4), ("task", "celery", "g", "g", 5, 6)],
        ),
        (
            "from celery.schedules import crontab\napp.conf.beat_schedule = {\n"
            "  'nightly': {'task': 'a.b', 'schedule': crontab(hour=3)},\n}\n",
            [("schedule", "celery", "nightly", "", 3, 3)],
        ),
        (
            "from apscheduler.schedulers.background import BackgroundScheduler\ns = BackgroundScheduler()\n"
            "@s.scheduled_job('cron', hour=3)\ndef f(): ...\ns.add_job(f, 'interval', seconds=5, id='often')\n",
            [("schedule", "apscheduler", "f", "f", 3, 4), ("schedule", "apscheduler", "often", "f", 5, 5)],
        ),
        (
            "import schedule\ndef f(): ...\nschedule.every(10).minutes.do(f)\n",
            [("schedule", "schedule", "f", "f", 3, 3)],
        ),
        (
            "from faststream.kafka import KafkaBroker\nbroker = KafkaBroker()\n"
            "@broker.subscriber('orders')\ndef f(m): ...\n",
            [("message_handler", "faststream", "orders", "f", 3, 4)],
        ),
        (
            "from fastapi import FastAPI\napp = FastAPI()\n@app.on_event('startup')\ndef f(): ...\n",
            [("message_handler", "fastapi", "startup", "f", 3, 4)],
        ),
        ("ROWS = (Task(name='purge', at=time(4)),)\n", [("schedule", None, "purge", "", 1, 1)]),
        ("import pytest\n@pytest.mark.task\ndef f(): ...\n@task\ndef g(): ...\n", []),
    ],
)
def test_commands_tasks_and_handlers(
    code: CodeIndexingPipeline, source: Make, text: str, found: list[tuple[object, ...]]
) -> None:
    assert _short(_entries(code, source, text)) == found


def test_schemas_of_arguments(code: CodeIndexingPipeline, source: Make) -> None:
    typer = (
        "import typer\napp = typer.Typer()\n@app.command()\n"
        "def f(name: str, age: int = 3, *, p=typer.Option(1, help='P.')): ...\n"
    )
    assert _entries(code, source, typer)[0].attributes["cli.args_schema"] == {
        "name": {"kind": "argument", "type": "str"},
        "age": {"kind": "option", "type": "int", "default": "3"},
        "p": {"kind": "option", "help": "P."},
    }
    click = (
        "import click\n@click.command()\n@click.argument('src', nargs=-1)\n"
        "@click.option('--dry-run/--wet')\ndef f(): ...\n"
    )
    assert _entries(code, source, click)[0].attributes["cli.args_schema"] == {
        "src": {"kind": "argument", "flags": ["src"], "nargs": "-1"},
        "dry_run": {"kind": "option", "flags": ["--dry-run/--wet"]},
    }
    parser = "import argparse\np = argparse.ArgumentParser()\np.add_argument('-n', '--no', type=int, help='N.')\n"
    assert _entries(code, source, parser)[0].attributes["cli.args_schema"] == {
        "no": {"kind": "option", "flags": ["-n", "--no"], "type": "int", "help": "N."},
    }


def test_prefixes_of_other_files_are_owned_up_to(code: CodeIndexingPipeline, source: Make) -> None:
    text = "from fastapi import APIRouter\nr = APIRouter(prefix='/a')\n@r.get('/b')\ndef f(): ...\n"
    assert _entries(code, source, text)[0].attributes["lang_payload"] == {
        "prefixes_elsewhere": True,
        "router": "r",
        "router_prefix": "/a",
    }


def test_console_scripts(code: CodeIndexingPipeline, source: Make) -> None:
    text = '[project]\nname = "x"\n\n[project.scripts]\ntool = "pkg.cli:main"\n'
    (row,) = _entries(code, source, text, "pyproject.toml")
    assert _short([row]) == [("cli_command", "console_script", "tool", "", 5, 5)]
    assert row.attributes["lang_payload"] == {"handler_ref": "pkg.cli.main"}
    assert row.text == 'tool = "pkg.cli:main"'


def test_every_endpoint_of_the_demo_is_found(code: CodeIndexingPipeline, source: Make) -> None:
    document = yaml.safe_load((CORPUS / "docs" / "api" / "openapi.yaml").read_text("utf-8"))
    methods = {"get", "post", "put", "patch", "delete"}
    wanted = {
        f"{method.upper()} {path}" for path, item in document["paths"].items() for method in item if method in methods
    }
    found = {
        row.title
        for path in sorted((CORPUS / "src").rglob("*.py"))
        for row in _entries(code, source, path.read_text("utf-8"), path.relative_to(CORPUS).as_posix())
        if row.attributes["entry_type"] == "http_route"
    }
    assert len(wanted) > 20
    assert found == wanted
