"""The nouns: frozen types and protocols that every other package speaks. No I/O here."""
