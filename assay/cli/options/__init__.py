"""Options of the commands: what each takes, and what several share."""
