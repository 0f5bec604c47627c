"""What is installed: distributions, their metadata and files, and what safepip keeps beside them."""
