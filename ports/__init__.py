"""What the domain needs from the world, and what each adapter promises."""
