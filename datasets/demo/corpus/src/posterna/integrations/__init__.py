"""Clients of the external systems. Each implements a protocol of ``posterna.service`` over ``httpx``."""
