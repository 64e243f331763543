"""Full paths of routes whose prefixes stand in other files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragkit.document import RagDocument, SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.links.linked_rows import link_session
from ragkit.layers import Layer

Make = Callable[[str, str], SourceFile]


@pytest.fixture
def routes(code: CodeIndexingPipeline, source: Make) -> Callable[[dict[str, str]], list[RagDocument]]:
    """The entry points of files, linked."""

    def run(files: dict[str, str]) -> list[RagDocument]:
        linked = link_session({path: code.index_file(source(path, text)) for path, text in files.items()})
        return [row for rows in linked.values() for row in rows if row.layer is Layer.C3_ENTRYPOINTS]

    return run


USERS = "from fastapi import APIRouter\nrouter = APIRouter(prefix='/users')\n@router.get('/{id}')\ndef one(id): ...\n"


@pytest.mark.parametrize(
    ("files", "titles"),
    [
        (
            {
                "app/users.py": USERS,
                "app/main.py": "from fastapi import FastAPI\nfrom app import users\napp = FastAPI()\n"
                "app.include_router(users.router, prefix='/v1')\n",
            },
            ["GET /v1/users/{id}"],
        ),
        (
            {  # two levels, and an import inside a function
                "app/users.py": USERS,
                "app/api.py": "from fastapi import APIRouter\nfrom app.users import router as users\n"
                "api = APIRouter(prefix='/api')\napi.include_router(users)\n",
                "app/main.py": "from fastapi import FastAPI\ndef make():\n    from app.api import api\n"
                "    app = FastAPI()\n    app.include_router(api, prefix='/v2')\n    return app\n",
            },
            ["GET /v2/api/users/{id}"],
        ),
        (
            {  # joined inside one file, and once more from outside
                "app/users.py": "from fastapi import APIRouter\ntop = APIRouter(prefix='/top')\n"
                "users = APIRouter(prefix='/users')\ntop.include_router(users)\n@users.post('')\ndef add(): ...\n",
                "app/main.py": "from fastapi import FastAPI\nfrom app.users import top\napp = FastAPI()\n"
                "app.include_router(top, prefix='/v1')\n",
            },
            ["POST /v1/top/users"],
        ),
        (
            {  # Flask: url_prefix of the registration stands in place of the blueprint's own
                "shop/carts.py": "from flask import Blueprint\nbp = Blueprint('carts', __name__, url_prefix='/old')\n"
                "@bp.route('/cart')\ndef show(): ...\n",
                "shop/__init__.py": "from flask import Flask\nfrom shop import carts\napp = Flask(__name__)\n"
                "app.register_blueprint(carts.bp, url_prefix='/new')\n",
            },
            ["GET /new/cart"],
        ),
        (
            {
                "shop/urls.py": "from django.urls import path\nfrom shop import views\n"
                "urlpatterns = [path('orders/', views.orders)]\n",
                "site/urls.py": "from django.urls import include, path\n"
                "urlpatterns = [path('api/', include('shop.urls'))]\n",
                "shop/views.py": "def orders(request): ...\n",
            },
            ["/api/orders/"],
        ),
        (
            {
                "app/admin.py": "from aiohttp import web\nadmin = web.Application()\nasync def show(request): ...\n"
                "admin.router.add_get('/show', show)\n",
            },
            ["GET /show"],
        ),
        ({"app/users.py": USERS}, ["GET /users/{id}"]),
    ],
)
def test_full_paths(
    routes: Callable[[dict[str, str]], list[RagDocument]], files: dict[str, str], titles: list[str]
) -> None:
    found = routes(files)
    assert [row.title for row in found] == titles
    assert [row.names[-1] for row in found] == [title.rpartition(" ")[2] for title in titles]
    assert all(title in row.context for row, title in zip(found, titles, strict=True))


def test_a_router_mounted_twice_has_both_paths(routes: Callable[[dict[str, str]], list[RagDocument]]) -> None:
    main = (
        "from fastapi import FastAPI\nfrom app import users\napp = FastAPI()\n"
        "app.include_router(users.router, prefix='/v2')\napp.include_router(users.router, prefix='/v1')\n"
    )
    row = routes({"app/users.py": USERS, "app/main.py": main})[0]
    assert row.attributes["route_or_command"] == "/v1/users/{id}"
    assert row.attributes["lang_payload"] == {
        "router": "router",
        "router_prefix": "/users",
        "routes": ["/v1/users/{id}", "/v2/users/{id}"],
    }
    assert row.names == ("GET /v1/users/{id}", "/v1/users/{id}", "GET /v2/users/{id}", "/v2/users/{id}")


def test_routers_that_mount_each_other_end(routes: Callable[[dict[str, str]], list[RagDocument]]) -> None:
    one = (
        "from fastapi import APIRouter\nfrom b import r as o\nr = APIRouter()\nr.include_router(o, prefix='/b')\n"
        "@r.get('/x')\ndef f(): ...\n"
    )
    other = "from fastapi import APIRouter\nfrom a import r as o\nr = APIRouter()\nr.include_router(o, prefix='/a')\n"
    assert routes({"a.py": one, "b.py": other})[0].title.endswith("/x")


def test_a_handler_of_another_file_is_found(routes: Callable[[dict[str, str]], list[RagDocument]]) -> None:
    urls = "from django.urls import path\nfrom shop import views\nurlpatterns = [path('orders/', views.orders)]\n"
    row = routes({"shop/urls.py": urls, "shop/views.py": "def orders(request): ...\n"})[0]
    assert row.attributes["handler_symbol_id"] == "shop/views.py::orders"
