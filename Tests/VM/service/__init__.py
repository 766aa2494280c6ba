"""Our units under a real systemd: started as themselves, with every hardening on."""
