"""A person at a terminal: questions, answers, and text that can't play tricks on the screen."""
