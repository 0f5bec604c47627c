"""What was written down for pip and for safepip: configuration, requirement files, baselines."""
