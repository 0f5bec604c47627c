"""Every noun: frozen values, no behaviour beyond properties."""
