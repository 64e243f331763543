from fastapi import APIRouter, Depends, FastAPI

app = FastAPI()
router = APIRouter(prefix="/parcels")


def user(): ...


@router.get("/{parcel_id}")
async def show(parcel_id: int, who=Depends(user)): ...


@router.api_route("/many", methods=["PUT", "PATCH"])
def change(): ...


@app.post("/doors")
def open_door(): ...


@app.websocket("/live")
async def live(socket): ...


@app.exception_handler(ValueError)
async def on_error(request, error): ...


app.include_router(router)
app.add_api_route("/late", open_door, methods=["DELETE"])
cache = {}
cache.get("/not-a-route")
