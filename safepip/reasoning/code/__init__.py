"""What Python code needs: which imports end otherwise after a change, and by which way."""
