"""Where everything is wired together: settings, container, commands."""
