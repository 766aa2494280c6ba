"""Measures gotchu-server; see docs/benchmarks.md."""
