"""From what was looked up to findings, a verdict, and the ways out."""
