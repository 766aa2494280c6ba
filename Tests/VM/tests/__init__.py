"""Tests of the simulated air without a kernel: `python3 -m unittest discover -s tests -t .`"""
