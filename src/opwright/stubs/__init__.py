"""Schemas to `.pyi`: typed `torch.ops` for type checkers, language servers and Jupyter."""
