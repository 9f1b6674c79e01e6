"""Running processes of this host, looked at from outside: /proc and py-spy. Nothing is sent to them but what py-spy needs."""
