"""Our units under a real systemd: started unchanged, with all hardening."""
