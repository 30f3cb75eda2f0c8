"""The language server: the linter's findings, schemas and operators where an author types."""
