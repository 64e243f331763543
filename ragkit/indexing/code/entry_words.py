"""Words by which entry points are known: frameworks, decorators, parameters. Data; the rules are in `entry_*.py`."""

from __future__ import annotations

from collections.abc import Mapping

WEB: Mapping[str, str] = {
    "fastapi": "fastapi",
    "starlette": "starlette",
    "flask": "flask",
    "flask_restx": "flask",
    "quart": "quart",
    "aiohttp": "aiohttp",
    "django": "django",
    "rest_framework": "django",
    "sanic": "sanic",
    "litestar": "litestar",
    "bottle": "bottle",
    "ninja": "django-ninja",
    "blacksheep": "blacksheep",
    "robyn": "robyn",
}
"""First part of an import → framework."""
COMMAND_LINE: Mapping[str, str] = {
    "typer": "typer", "click": "click", "rich_click": "click", "asyncclick": "click", "argparse": "argparse",
    "flask": "flask", "cyclopts": "cyclopts",
}  # fmt: skip
TASK_QUEUES: Mapping[str, str] = {
    "celery": "celery", "apscheduler": "apscheduler", "dramatiq": "dramatiq", "rq": "rq", "huey": "huey", "arq": "arq",
    "taskiq": "taskiq", "procrastinate": "procrastinate", "schedule": "schedule", "rocketry": "rocketry",
    "prefect": "prefect", "airflow": "airflow", "django_rq": "rq", "aiocron": "aiocron", "repid": "repid",
}  # fmt: skip
MESSAGING: Mapping[str, str] = {
    "faststream": "faststream", "kafka": "kafka", "aiokafka": "kafka", "confluent_kafka": "kafka", "pika": "rabbitmq",
    "aio_pika": "rabbitmq", "kombu": "kombu", "faust": "faust", "nats": "nats", "aiogram": "aiogram",
    "telebot": "telebot", "pyrogram": "pyrogram", "discord": "discord", "slack_bolt": "slack", "nameko": "nameko",
    "django": "django", "blinker": "blinker", "socketio": "socketio", "paho": "mqtt",
}  # fmt: skip

HTTP_METHODS = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "trace"})
ROUTE_DECORATORS = frozenset({"route", "api_route", "view"})
WEBSOCKET_DECORATORS = frozenset({"websocket", "websocket_route", "websocket_stream"})
ROUTER_NAMES = frozenset({"app", "api", "router", "routes", "bp", "blueprint", "application", "web", "server"})
"""Last word of the name of a router that comes from another file."""
APPLICATIONS = frozenset({"FastAPI", "Starlette", "Flask", "Quart", "Application", "Sanic", "Litestar", "Bottle"})
"""Classes whose routes have no prefix of another router before them."""
INCLUDES = frozenset({"include_router", "register_blueprint", "add_router", "mount", "add_subapp"})
"""Methods that put one router under another."""
ADD_ROUTE = frozenset({"add_route", "add_api_route", "add_url_rule", "add_websocket_route", "add_api_websocket_route"})
ROUTE_CLASSES = frozenset({"Route", "APIRoute", "WebSocketRoute", "APIWebSocketRoute"})
DJANGO_ROUTES: Mapping[str, bool] = {
    "django.urls.path": False,
    "django.urls.re_path": True,
    "django.conf.urls.url": True,
}
"""Full name → whether the path is a regular expression."""

AUTH_WORDS = frozenset(
    {"auth", "authenticated", "authentication", "authorization", "authorize", "authorized", "user", "token", "login",
     "permission", "permissions", "role", "roles", "jwt", "apikey", "oauth", "oauth2", "security", "credentials",
     "principal", "admin", "superuser", "scopes", "identity", "bearer"}
)  # fmt: skip
"""A dependency or decorator with one of these words checks who asks."""
SURE_AUTH_WORDS = AUTH_WORDS - {
    "user",
    "role",
    "roles",
    "admin",
    "login",
    "token",
    "permission",
    "permissions",
    "scopes",
}
"""Words that say so in the name of a type too, where `User` or `TokenResponse` may as well be what is sent."""
DEPENDENCIES = frozenset({"Depends", "Security", "Provide"})
NO_BODY = frozenset(
    {"Request", "Response", "WebSocket", "BackgroundTasks", "HTTPConnection", "UploadFile", "Session", "AsyncSession",
     "UUID", "Decimal", "Path", "Enum", "Any", "SecurityScopes", "Settings", "Callable"}
)  # fmt: skip
"""Classes of parameters that are never the body of a request."""
NO_BODY_MARKS = frozenset({"Depends", "Security", "Query", "Header", "Path", "Cookie", "Provide"})
BODY_NAMES = frozenset(
    {"body", "payload", "data", "item", "model", "form", "schema", "request_body", "request_data", "obj_in"}
)
BODY_SUFFIXES = (
    "Request", "In", "Create", "Update", "Schema", "Model", "Payload", "Body", "Dto", "DTO", "Form", "Input", "Patch",
    "Command",
)  # fmt: skip
NO_MODEL = frozenset({"None", "Response", "Any", "StreamingResponse", "FileResponse", "RedirectResponse"})

COMMAND_DECORATORS = frozenset({"command", "group", "callback"})
TASK_DECORATORS = frozenset({"task", "shared_task", "actor", "job", "background_task", "periodic_task", "flow"})
SCHEDULE_DECORATORS = frozenset(
    {"scheduled_job", "cron", "crontab", "periodic_task", "repeat_every", "every", "on_schedule"}
)
HANDLER_DECORATORS = frozenset(
    {"subscribe", "subscriber", "consumer", "consume", "consumes", "listener", "listen", "listens_to",
     "message_handler", "event_handler", "handler", "handles", "receiver", "on_event", "on_message", "agent", "event",
     "on", "message",
     "callback_query", "rpc", "topic", "entrypoint"}
)  # fmt: skip
UNSURE_DECORATORS = frozenset(
    {"task", "job", "flow", "every", "on", "event", "message", "handler", "topic", "agent", "rpc", "entrypoint",
     "callback_query", "cron"}
)  # fmt: skip
"""Decorators whose word alone is not enough: the framework must be imported, or the owner be named for it."""
OWNER_WORDS = frozenset(
    {"celery", "scheduler", "sched", "huey", "broker", "queue", "bus", "events", "consumer", "dispatcher", "worker",
     "bot", "dp", "sio", "cron", "app", "router"}
)  # fmt: skip
"""Last word of the name of what such a decorator is an attribute of."""
QUEUE_ARGUMENTS = ("queue", "queue_name", "broker_queue", "topic", "channel")
SCHEDULE_ARGUMENTS = (
    "cron",
    "crontab",
    "schedule",
    "every",
    "interval",
    "at",
    "seconds",
    "minutes",
    "hours",
    "trigger",
)
ROW_ARGUMENTS = frozenset({"every", "cron", "crontab", "schedule", "interval", "at"})
"""A call at the top of a module with a `name` and one of these is a row of a schedule."""
MUTE_OWNERS = frozenset(
    {"pytest", "unittest", "functools", "hypothesis", "mock", "abc", "dataclasses", "typing", "pluggy", "respx",
     "responses", "requests_mock", "httpx", "requests", "contextlib"}
)  # fmt: skip
"""First part of names whose decorators and calls are no entry points, whatever they are called."""
