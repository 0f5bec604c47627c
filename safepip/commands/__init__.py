"""One module a command: where looking, deciding and acting meet."""
