"""Damaged and hostile input by the million: how it is made, what it is given to, and what must hold."""
