"""qr.py MASK TEXT...: prints the QR codes that segno makes at level M, one a line.

A line has the modules of all rows as 0 and 1, with "/" between rows. MASK is 0 to 7, or "best".
"""

import sys

import segno

ALPHABET = set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:")

mask = None if sys.argv[1] == "best" else int(sys.argv[1])
for text in sys.argv[2:]:
    mode = "alphanumeric" if set(text) <= ALPHABET else "byte"
    code = segno.make(text, error="m", mask=mask, mode=mode, micro=False, boost_error=False)
    print("/".join("".join(map(str, row)) for row in code.matrix))
