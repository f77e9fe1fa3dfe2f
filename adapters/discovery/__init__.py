"""What is already there: model servers on this machine that a person may be running."""
