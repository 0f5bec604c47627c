"""What a change does to the files: pip's removal, uv's, a safe one, an install, an undo, as pure functions."""
