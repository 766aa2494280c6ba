"""A test of our units under a real systemd. The units are started unchanged, with all hardening."""
