"""The marks an author puts on annotations. For a type checker each is the plain type behind it."""
