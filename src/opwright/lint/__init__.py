"""The linter: rules over what a survey of a code base found, and everything around them."""
