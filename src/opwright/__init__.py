"""Opwright: type annotations to PyTorch operator schemas."""
