"""Side-by-side runs against peers: ``python -m benchmarks [NAME ...]``. Each prints both sides and a ratio."""
