"""What the model wires share: profiles, the assembly of replies, the mapping of errors, the reply itself."""
