"""The simulated air, tested without a kernel: `python3 -m unittest discover -s tests -t .`"""
