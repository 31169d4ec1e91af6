"""What every room stands on: errors, files, progress, worker processes, and words for messages."""
