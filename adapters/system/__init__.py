"""What the machine itself gives: time, chance and identifiers."""
