from aiohttp import web
from starlette.applications import Starlette
from starlette.routing import Mount, Route

routes = web.RouteTableDef()


@routes.get("/cells")
async def cells(request): ...


async def weigh(request): ...


def make():
    app = web.Application()
    app.router.add_post("/scales", weigh)
    app.add_routes([web.delete("/scales/{id}", weigh)])
    return app


star = Starlette(routes=[Route("/star", weigh)])
