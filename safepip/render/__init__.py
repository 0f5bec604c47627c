"""Says it: values into text."""
