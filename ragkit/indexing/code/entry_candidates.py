"""Which symbols look like entry points: data. C3 decides, this only says where to look."""

from __future__ import annotations

from collections.abc import Iterable

ENTRY_NAMES = frozenset({"main", "cli", "handler", "lambda_handler", "application", "create_app"})
"""Names of functions at the top of a file."""
ENTRY_DECORATORS = frozenset(
    {
        "route", "get", "post", "put", "patch", "delete", "head", "options", "websocket", "api_route", "view", "action",
        "command", "group", "callback", "task", "shared_task", "periodic_task", "scheduled_job", "cron", "job",
        "on_event", "middleware", "exception_handler", "errorhandler", "subscriber", "subscribe", "listener",
        "consumer", "agent", "receiver", "message_handler", "event_handler",
        # Annotations and attributes of Spring, JAX-RS, NestJS, actix and tokio.
        "RequestMapping", "GetMapping", "PostMapping", "PutMapping", "PatchMapping", "DeleteMapping", "MessageMapping",
        "Scheduled", "EventListener", "KafkaListener", "RabbitListener", "JmsListener", "SqsListener", "GET", "POST",
        "PUT", "DELETE", "PATCH", "Path", "Get", "Post", "Put", "Patch", "Delete", "All", "Cron", "Interval",
        "MessagePattern", "EventPattern", "SubscribeMessage", "Query", "Mutation", "Subscription", "main",
    }
)  # fmt: skip
"""Last part of a decorator that hands a function to a framework."""


def is_entry_candidate(name: str, decorators: Iterable[str], *, is_top: bool) -> bool:
    """Whether a function looks like an entry point by its name or by the last parts of its decorators' names."""
    return (is_top and name in ENTRY_NAMES) or any(decorator in ENTRY_DECORATORS for decorator in decorators)
