"""Tests, laid out like the code. A package, so that `python -m tests.browser.ensure_chromium` finds this one."""
