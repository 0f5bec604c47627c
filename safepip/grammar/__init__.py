"""What command lines are made of: pip's options and safepip's own, and uv's."""
