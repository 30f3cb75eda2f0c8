"""A schema and a fake kernel that give one argument different defaults."""

import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("scale(Tensor x, float by=2.0) -> Tensor")
lib.impl("scale", lambda x, by=2.0: x * by, "CPU")


# The dispatcher drops `by` where it is 2.0; the fake then computes with 3.0.
@torch.library.register_fake("mylib::scale")
def _(x, by=3.0):
    return torch.empty_like(x)
