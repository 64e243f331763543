"""The browser UI: it shows what the engine returned and decides nothing."""
