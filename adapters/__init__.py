"""How the world answers: one folder a vendor, a protocol or a resource."""
