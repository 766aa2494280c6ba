"""The figures of gotchu-server; see docs/benchmarks.md."""
