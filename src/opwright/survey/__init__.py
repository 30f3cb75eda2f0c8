"""Where operators are written: definitions, implementations and calls, in Python and in C++."""
