"""Message handlers: what Posterna Core does with messages of the broker.

A handler answers True when the message may be acknowledged. Only a failure that a later attempt can cure
answers False; a message that makes no sense is logged and acknowledged, or it would come back for ever.
Документация: docs/logic/offline-locker.md.
"""

from __future__ import annotations

import json
import logging
from datetime import datetime

import psycopg

from posterna.service import ParcelService

logger = logging.getLogger(__name__)

HEARTBEAT = "locker.heartbeat"


def handle(event_type: str, body: bytes, service: ParcelService) -> bool:
    """Dispatch by the type of the message; unknown types are acknowledged and ignored."""
    if event_type == HEARTBEAT:
        return handle_heartbeat(body, service)
    logger.debug("message %s is not for us", event_type)
    return True


def handle_heartbeat(body: bytes, service: ParcelService) -> bool:
    """Запомнить сигнал жизни постамата."""
    try:
        message = json.loads(body)
        locker_code, at = str(message["locker_code"]), datetime.fromisoformat(message["at"])
    except (ValueError, KeyError, TypeError):
        logger.warning("malformed heartbeat of %d bytes", len(body))
        return True
    if at.tzinfo is None:
        logger.warning("heartbeat of %s without an offset", locker_code)
        return True
    try:
        service.heartbeat(locker_code, at)
    except psycopg.OperationalError:
        return False
    return True
